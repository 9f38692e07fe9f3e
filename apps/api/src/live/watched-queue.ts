import { MAX_SCOPES } from '@tollway/dataplane-agent/records';
import type { Subscribe } from '@tollway/protocol/live/requests';
import type { AgentPort } from '../agent/port.js';
import type { ConfigStore } from '../config/store.js';
import { FairShare, type Slot } from '../scheduling/fair-share.js';
import { parseRowId, type Row } from '../snapshot/snapshot.js';
import { type ScopeReading, ScopeReadings } from './scope-readings.js';

/** A queue that a browser watches. */
export type Watched = Pick<Subscribe & { topic: 'queue-scope' }, 'menu' | 'queue'>;

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

function hasChildren(compiled: ConfigStore['compiled'], menu: Watched['menu'], { id }: Row): boolean {
  return menu === '/queue/simple'
    ? compiled['simple-queues']?.some(({ parent }) => parent === id) === true
    : compiled['tree-queues']?.some(({ parent }) => parent.kind === 'queue' && parent.row === id) === true;
}

/** A row that is watched. */
interface WatchedRow {
  /** Those that look at it, with their users: they need no place of their own. */
  readonly watchers: Map<object, number>;
  readonly place: Promise<Slot | undefined>;
  readonly readings: ScopeReadings;
}

/** The rows that are watched, of all browsers. */
export class WatchedRows {
  readonly #agent: Pick<AgentPort, 'request'>;
  readonly #places = new FairShare(MAX_SCOPES);
  readonly #rows = new Map<number, WatchedRow>();

  constructor(agent: Pick<AgentPort, 'request'>) {
    this.#agent = agent;
  }

  /**
   * @returns the watch: it is over when its place went to another user, and what leaves it.
   * @throws Error when there is no place for one more row of this user.
   */
  async take(row: number, user: number): Promise<Watch> {
    const watched = this.#rows.get(row) ?? this.#add(row, user);
    const watcher = {};
    watched.watchers.set(watcher, user);
    const place = await watched.place;
    if (place === undefined) {
      throw new Error(
        `${MAX_SCOPES} other queues are watched now, as many as can be: leave the token bucket of one of them.`,
      );
    }
    return {
      over: () => this.#rows.get(row) !== watched,
      read: (after) => watched.readings.read(after),
      leave: () => {
        watched.watchers.delete(watcher);
        const users = [...watched.watchers.values()];
        const [next] = users;
        if (next === undefined) {
          this.#forget(row, watched);
          place.release();
        } else if (!users.includes(place.user)) place.user = next;
      },
    };
  }

  #add(row: number, user: number): WatchedRow {
    const place = this.#places.take(user, async () => this.#forget(row, watched));
    const watched: WatchedRow = { watchers: new Map(), place, readings: new ScopeReadings(this.#agent, row) };
    this.#rows.set(row, watched);
    void place.then((taken) => taken === undefined && this.#forget(row, watched));
    return watched;
  }

  #forget(row: number, watched: WatchedRow): void {
    if (this.#rows.get(row) === watched) this.#rows.delete(row);
  }
}

/** One that looks at a row. */
export interface Watch {
  readonly over: () => boolean;
  /** What it has done. @see ScopeReadings.read */
  readonly read: (after: number) => Promise<ScopeReading>;
  readonly leave: () => void;
}
