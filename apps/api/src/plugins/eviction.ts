/** Which connection goes when there are too many. */

/** What of a connection decides whether it goes. */
export interface Evictable {
  /** Place in the order in which they came. */
  readonly number: number;
  /** It is a proxy's, by whose connections any number of people come. */
  readonly isProxy: boolean;
  /** Requests without an answer. */
  readonly pending: number;
  /** Since when there is none, ms by `performance.now()`. */
  readonly quietSince: number;
  /** Number of the user who last proved to be somebody by it. */
  readonly user: number | undefined;
  /** It has become a WebSocket. */
  readonly live: boolean;
}

/** Connections without a login that are few of one address: a browser opens six at once. */
const FEW = 8;
/** Without a request for so long, a connection is not about to send its first, ms. */
const QUIET_MS = 1_000;

interface Candidate<T> {
  readonly connection: T;
  /** It has waited for a request for long. */
  readonly isQuiet: boolean;
  /** Connections of its address without a login beyond {@link FEW}. */
  readonly excess: number;
}

/**
 * The connection that goes when there are too many in all, of those without a login. It is of the address that has most of
 * them, if those are not few; else, that many addresses with few keep out neither somebody who comes again nor somebody new,
 * rather of one that nobody has logged in from, rather one that asks nothing, and the oldest of those.
 *
 * @param networks connections by address, oldest first
 * @param isKnown whether somebody has logged in from where a connection comes from
 */
export function strangerOf<T extends Evictable>(
  networks: Iterable<ReadonlySet<T>>,
  isKnown: (connection: T) => boolean,
): T | undefined {
  const now = performance.now();
  let found: (Candidate<T> & { readonly isKnown: boolean }) | undefined;
  for (const siblings of networks) {
    const candidate = candidateOf(siblings, now);
    if (candidate === undefined) continue;
    const next = { ...candidate, isKnown: isKnown(candidate.connection) };
    if (found === undefined || goesBefore(next, found)) found = next;
  }
  return found?.connection;
}

type Ranked = Candidate<Evictable> & { readonly isKnown: boolean };

function goesBefore(a: Ranked, b: Ranked): boolean {
  if (a.excess !== b.excess) return a.excess > b.excess;
  if (a.isKnown !== b.isKnown) return b.isKnown;
  if (a.isQuiet !== b.isQuiet) return a.isQuiet;
  return a.connection.number < b.connection.number;
}

/** Of one address, the oldest connection without a login that asks nothing, or else the oldest without a login. */
export const strangerAmong = <T extends Evictable>(siblings: ReadonlySet<T>): T | undefined =>
  candidateOf(siblings, performance.now())?.connection;

function candidateOf<T extends Evictable>(siblings: ReadonlySet<T>, now: number): Candidate<T> | undefined {
  let oldest: T | undefined;
  let quiet: T | undefined;
  let count = 0;
  for (const connection of siblings) {
    if (connection.user !== undefined) continue;
    count += 1;
    oldest ??= connection;
    if (connection.pending === 0 && now - connection.quietSince >= QUIET_MS) quiet ??= connection;
  }
  const connection = quiet ?? oldest;
  if (connection === undefined) return undefined;
  const excess = connection.isProxy ? 0 : Math.max(0, count - FEW);
  return { connection, isQuiet: quiet !== undefined, excess };
}

/** The oldest connection of the user who has most of them, if those are more than `limit`. */
export function ofMostUsing<T extends Evictable>(connections: Iterable<T>, limit: number): T | undefined {
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

/** Of one address, the oldest connection that is only kept for a next request. Its client opens another. */
export function keptOf<T extends Evictable>(siblings: ReadonlySet<T>): T | undefined {
  for (const connection of siblings) if (connection.pending === 0 && !connection.live) return connection;
  return undefined;
}
