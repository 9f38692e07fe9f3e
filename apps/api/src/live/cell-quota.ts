import { UserSemaphore } from '../scheduling/user-semaphore.js';

/** Limit of cells of one user's subscriptions on all connections: cells are kept to find what changes. */
const MAX_OF_USER = 1_500_000;
/** Cells that all subscriptions show at once: some 100 bytes each. */
const MAX_OF_ALL = 4_000_000;

/**
 * Limit of rows that the subscriptions of one user, and of all, scan at once: each scan holds its row set, and some 200 bytes
 * of each row that it sorts.
 */
const MAX_SCANNED_OF_USER = 1_500_000;
const MAX_SCANNED = 4_000_000;

/** Limits the cells that subscriptions show, and the rows that they scan, at once, so that they do not fill the memory. */
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

/** A subscription's part of the cells that may be shown. */
export interface CellReservation {
  /** Id of the user whose subscription it is. */
  readonly user: number;
  /** Reserves cells in place of those before; on refusal returns the reason, and nothing is reserved. */
  resize(cells: number): string | undefined;
  /** Whether it may scan so many rows now. */
  mayScan(rows: number): boolean;
  /** Waits until the quota permits it. @param done aborted when it has finished or was cancelled; then Cancelled is thrown. */
  acquireScan(rows: number, done: AbortSignal): Promise<void>;
  close(): void;
}
