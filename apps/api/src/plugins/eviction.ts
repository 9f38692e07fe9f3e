/** Choice of the connection to close when there are too many. */

/** Origin of connections: one address; of IPv6, one /64. */
export interface Network<T> {
  readonly name: string;
  /** True for a proxy, by whose connections any number of people come. */
  readonly isProxy: boolean;
  /** Connections of the address, oldest first. */
  readonly connections: Set<T>;
  /** Number of connections without a login. */
  anonymous: number;
}

/** Properties of a connection that decide whether it goes. */
export interface Evictable {
  /** Requests without an answer. */
  readonly pending: number;
  /** Start of the time without a request, ms by `performance.now()`. */
  readonly quietSince: number;
  /** Number of the user who last proved to be somebody by it. */
  readonly user: number | undefined;
  /** True once it is a WebSocket. */
  readonly live: boolean;
}

/** Connections without a login that are few of one address: a browser opens six at once. */
const FEW = 8;
/** Time without a request after which a connection is not about to send its first, ms. */
const QUIET_MS = 1_000;

const isQuiet = ({ pending, quietSince }: Evictable, now: number): boolean =>
  pending === 0 && now - quietSince >= QUIET_MS;

/**
 * The connection that is closed when there are too many in all, of those without a login. It is of the address that has most of
 * them, if those are not few; else, that many addresses with few keep out neither somebody who comes again nor somebody new,
 * rather of one that nobody has logged in from, rather one that asks nothing, and the oldest of those.
 *
 * @param open all connections, oldest first
 * @param isKnown whether somebody has logged in from there
 */
export function anonymousToEvict<T extends Evictable & { readonly network: Network<T> }>(
  networks: Iterable<Network<T>>,
  open: Iterable<T>,
  isKnown: (network: Network<T>) => boolean,
): T | undefined {
  let crowd: Network<T> | undefined;
  for (const network of networks) {
    if (network.isProxy || network.anonymous <= FEW) continue;
    if (crowd === undefined || network.anonymous > crowd.anonymous) crowd = network;
  }
  if (crowd !== undefined) return anonymousToEvictAmong(crowd.connections);
  const now = performance.now();
  let asking: T | undefined;
  let known: T | undefined;
  for (const connection of open) {
    if (connection.user !== undefined) continue;
    if (isKnown(connection.network)) known ??= connection;
    else if (isQuiet(connection, now)) return connection;
    else asking ??= connection;
  }
  return asking ?? known;
}

/** Oldest connection of one address without a login that asks nothing, or else the oldest without a login. */
export function anonymousToEvictAmong<T extends Evictable>(connections: Iterable<T>): T | undefined {
  const now = performance.now();
  let oldest: T | undefined;
  for (const connection of connections) {
    if (connection.user !== undefined) continue;
    if (isQuiet(connection, now)) return connection;
    oldest ??= connection;
  }
  return oldest;
}

/** The oldest connection of the user who has most of them, if those are more than `limit`. */
export function loggedInToEvict<T extends Evictable>(connections: Iterable<T>, limit: number): T | undefined {
  const byUser = new Map<number, { readonly oldest: T; count: number }>();
  let most: { readonly oldest?: T; count: number } = { count: limit };
  for (const connection of connections) {
    if (connection.user === undefined) continue;
    const own = byUser.get(connection.user) ?? { oldest: connection, count: 0 };
    own.count += 1;
    byUser.set(connection.user, own);
    if (own.count > most.count) most = own;
  }
  return most.oldest;
}

/** Oldest connection of one address that is only kept for a next request. Its client opens another. */
export function idleToEvict<T extends Evictable>(connections: Iterable<T>): T | undefined {
  for (const connection of connections) if (connection.pending === 0 && !connection.live) return connection;
  return undefined;
}
