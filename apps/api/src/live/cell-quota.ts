import { UserSemaphore } from '../scheduling/user-semaphore.js';

/** Maximum number of cells of one user's subscriptions on all connections. Sent cells are kept, to find changes. */
const MAX_OF_USER = 1_500_000;
/** Maximum number of cells of all subscriptions: some 100 bytes each. */
const MAX_OF_ALL = 4_000_000;

/**
 * Limit of rows that the subscriptions of one user, and of all, scan at once: each scan holds its row set, and some 200 bytes
 * of each row that it sorts.
 */
const MAX_SCANNED_OF_USER = 1_500_000;
const MAX_SCANNED = 4_000_000;

/** Limits the number of cells that subscriptions show, and of rows that they scan at a time, to bound memory use. */
export class CellQuota {
  readonly #byUser = new Map<number, number>();
  #all = 0;
  readonly #scanned = new UserSemaphore(MAX_SCANNED, MAX_SCANNED_OF_USER);

  /** Reservation for one subscription of a user; empty at first. */
  reserve(user: number): CellReservation {
    let cells = 0;
    const set = (wanted: number) => {
      const ofUser = (this.#byUser.get(user) ?? 0) + wanted - cells;
      this.#all += wanted - cells;
      cells = wanted;
      if (ofUser === 0) this.#byUser.delete(user);
      else this.#byUser.set(user, ofUser);
    };
    return {
      user,
      resize: (wanted) => {
        const more = wanted - cells;
        const problem = more > 0 ? this.#problem(user, more) : undefined;
        set(problem === undefined ? wanted : 0);
        return problem;
      },
      mayScan: (rows) => this.#scanned.fits(user, Math.min(rows, MAX_SCANNED_OF_USER)),
      acquireScan: (rows, done) => this.#scanned.acquire(user, Math.min(rows, MAX_SCANNED_OF_USER), done),
      close: () => set(0),
    };
  }

  #problem(user: number, more: number): string | undefined {
    if ((this.#byUser.get(user) ?? 0) + more > MAX_OF_USER) {
      return `at most ${MAX_OF_USER} cells, rows by columns, are shown to one user at once; close other windows`;
    }
    if (this.#all + more > MAX_OF_ALL) return `at most ${MAX_OF_ALL} cells are shown at once to all users`;
    return undefined;
  }
}

/** The number of cells that is reserved for a subscription. */
export interface CellReservation {
  /** Id of the user who owns the subscription. */
  readonly user: number;
  /** Replaces the reservation. If it is refused, nothing is reserved, and the reason is returned. */
  resize(cells: number): string | undefined;
  /** Whether the subscription may scan this number of rows now. */
  mayScan(rows: number): boolean;
  /**
   * Waits until the quota permits the scan. @param done aborted when the scan has finished or was cancelled; a
   * cancelled wait throws Cancelled.
   */
  acquireScan(rows: number, done: AbortSignal): Promise<void>;
  close(): void;
}
