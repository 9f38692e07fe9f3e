/** Choice of the connection to close when there are too many. */

/** Origin of connections: one IPv4 address, or one /64 of IPv6. */
export interface Network<T> {
  readonly name: string;
  /** True for a proxy, whose connections serve any number of users. */
  readonly isProxy: boolean;
  /** Connections of the address, oldest first. */
  readonly connections: Set<T>;
  /** Number of connections without a login. */
  anonymous: number;
}

/** Properties of a connection that decide whether it is closed. */
export interface Evictable {
  /** Number of requests without a response. */
  readonly pending: number;
  /** Time since which there has been no request, ms by `performance.now()`. */
  readonly quietSince: number;
  /** Id of the user who was last authenticated on the connection. */
  readonly user: number | undefined;
  /** True once it is a WebSocket. */
  readonly live: boolean;
}

/**
 * Number of connections without a login that one address may have before it is preferred for eviction: a browser opens
 * six at a time.
 */
const FEW = 8;
/** Time without a request after which a connection is not considered as about to send its first one, ms. */
const QUIET_MS = 1_000;

const isQuiet = ({ pending, quietSince }: Evictable, now: number): boolean =>
  pending === 0 && now - quietSince >= QUIET_MS;

/**
 * The connection without a login that is closed when there are too many in total: one of the address with the most, if
 * these are more than {@link FEW}. Otherwise the preference is: from an address without an earlier login, without a
 * pending request, the oldest. So many addresses with few connections each block neither known users nor new ones.
 *
 * @param open all connections, oldest first
 * @param isKnown whether there was a login from the address
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

/**
 * The oldest connection of one address without a login and without a pending request, or else its oldest one without a
 * login.
 */
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

/** The oldest connection of the user with the most connections, if these are more than `limit`. */
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

/** The oldest idle connection of one address, which its client can open again. */
export function idleToEvict<T extends Evictable>(connections: Iterable<T>): T | undefined {
  for (const connection of connections) if (connection.pending === 0 && !connection.live) return connection;
  return undefined;
}
