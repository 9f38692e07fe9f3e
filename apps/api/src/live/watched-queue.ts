import { parseRowId, type Row } from '../config/snapshot.js';
import type { ConfigStore } from '../config/store.js';

/** Menus whose queues can be watched. */
export type ScopeMenu = '/queue/simple' | '/queue/tree';

/** A queue that a browser watches. */
export interface Watched {
  readonly menu: ScopeMenu;
  /** `.id` or name. */
  readonly queue: string;
}

/**
 * The row of a queue in which packets wait and pass.
 * @throws Error that says why there is nothing to see of it.
 */
export function watchedRow(
  { snapshot, compiled, invalid }: Pick<ConfigStore, 'snapshot' | 'compiled' | 'invalid'>,
  { menu, queue }: Watched,
): number {
  const wanted = parseRowId(queue);
  const row = snapshot
    .get(menu)
    ?.find(({ id, values }) => (wanted === undefined ? values.name === queue : id === wanted));
  if (row === undefined) throw new Error(`there is no queue ${queue} in ${menu}`);
  if (row.disabled) throw new Error('The queue is disabled: nothing passes in it.');
  const reason = invalid.get(row.id);
  if (reason !== undefined) throw new Error(`The queue does not work: ${reason}.`);
  if (hasChildren(compiled, menu, row)) {
    throw new Error('Packets pass in the queues below this one, which it holds together: look at one of those.');
  }
  return row.id;
}

function hasChildren(compiled: ConfigStore['compiled'], menu: ScopeMenu, { id }: Row): boolean {
  return menu === '/queue/simple'
    ? compiled['simple-queues']?.some(({ parent }) => parent === id) === true
    : compiled['tree-queues']?.some(({ parent }) => parent.kind === 'queue' && parent.row === id) === true;
}

/** Most queues that the data plane watches at a time, `ROWS` of the engine's `scope.rs`. */
const MOST = 4;

/** The rows that are watched, of all browsers: those that look at the same one need no place of their own. */
export class WatchedRows {
  readonly #watchers = new Map<number, number>();

  /** @throws Error when there is no place for one more row. */
  take(row: number): void {
    const watchers = this.#watchers.get(row) ?? 0;
    if (watchers === 0 && this.#watchers.size >= MOST) {
      throw new Error(
        `${MOST} other queues are watched now, as many as can be: leave the token bucket of one of them.`,
      );
    }
    this.#watchers.set(row, watchers + 1);
  }

  /** Gives back what was taken. */
  leave(row: number): void {
    const watchers = this.#watchers.get(row) ?? 0;
    if (watchers > 1) this.#watchers.set(row, watchers - 1);
    else this.#watchers.delete(row);
  }
}
