import { MAX_TOKEN_BUCKETS } from '@tollway/dataplane-agent/records';
import type { Subscribe } from '@tollway/protocol/live/client-messages';
import type { AgentPort } from '../agent/port.js';
import type { ConfigStore } from '../config/store.js';
import { FairShare, type Slot } from '../scheduling/fair-share.js';
import { parseRowId, type Row } from '../snapshot/snapshot.js';
import { type TokenBucketReading, TokenBucketReadings } from './token-bucket-readings.js';

/** The queue of a subscription. */
export type WatchedQueue = Pick<Subscribe & { topic: 'token-bucket' }, 'menu' | 'queue'>;

/**
 * Id of the queue's row.
 * @throws Error with the reason why the queue has no samples: it does not exist, is disabled or invalid, or has
 * children.
 */
export function watchedRow(
  { snapshot, compiled, invalid }: Pick<ConfigStore, 'snapshot' | 'compiled' | 'invalid'>,
  { menu, queue }: WatchedQueue,
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

function hasChildren(compiled: ConfigStore['compiled'], menu: WatchedQueue['menu'], { id }: Row): boolean {
  switch (menu) {
    case '/queue/simple':
      return compiled['simple-queues']?.some(({ parent }) => parent === id) === true;
    case '/queue/tree':
      return compiled['tree-queues']?.some(({ parent }) => parent.kind === 'queue' && parent.row === id) === true;
  }
}

/** A row that occupies a slot of the data plane. */
interface WatchedRow {
  /** Viewers of the queue, with the id of their user; they share the slot. */
  readonly watchers: Map<object, number>;
  readonly slot: Promise<Slot | undefined>;
  readonly readings: TokenBucketReadings;
}

/** All watched rows. The data plane samples {@link MAX_TOKEN_BUCKETS} queues at a time; users share them fairly. */
export class WatchedRows {
  readonly #agent: Pick<AgentPort, 'request'>;
  readonly #slots = new FairShare(MAX_TOKEN_BUCKETS);
  readonly #rows = new Map<number, WatchedRow>();

  constructor(agent: Pick<AgentPort, 'request'>) {
    this.#agent = agent;
  }

  /**
   * Watches a row.
   * @throws Error when this user gets no slot for it.
   */
  async watch(row: number, user: number): Promise<Watch> {
    const watched = this.#rows.get(row) ?? this.#add(row, user);
    const watcher = {};
    watched.watchers.set(watcher, user);
    const slot = await watched.slot;
    if (slot === undefined) {
      throw new Error(
        `${MAX_TOKEN_BUCKETS} other queues are watched now, as many as can be: leave the token bucket of one of them.`,
      );
    }
    return {
      isRevoked: () => this.#rows.get(row) !== watched,
      read: (after) => watched.readings.read(after),
      stop: () => {
        watched.watchers.delete(watcher);
        const users = [...watched.watchers.values()];
        const [next] = users;
        if (next === undefined) {
          this.#forget(row, watched);
          slot.release();
        } else if (!users.includes(slot.user)) slot.user = next;
      },
    };
  }

  #add(row: number, user: number): WatchedRow {
    const slot = this.#slots.take(user, async () => this.#forget(row, watched));
    const watched: WatchedRow = { watchers: new Map(), slot, readings: new TokenBucketReadings(this.#agent, row) };
    this.#rows.set(row, watched);
    void slot.then((taken) => taken === undefined && this.#forget(row, watched));
    return watched;
  }

  #forget(row: number, watched: WatchedRow): void {
    if (this.#rows.get(row) === watched) this.#rows.delete(row);
  }
}

/** A viewer of a row. */
export interface Watch {
  /** Whether the slot was given to another user. */
  readonly isRevoked: () => boolean;
  /** @see TokenBucketReadings.read */
  readonly read: (after: number) => Promise<TokenBucketReading>;
  readonly stop: () => void;
}
