/** A subscription to rows of a menu, by scroll position, sort order, filter and search text. Listeners get the changes. */

import type { Subscription } from '@tollway/protocol/live/client-messages';
import { MAX_ROWS } from '@tollway/protocol/live/limits';
import type { Condition, Operator, RowQueryPart } from '@tollway/protocol/live/row-query';
import type { Failure, ServerMessage } from '@tollway/protocol/live/server-messages';
import { applyMessage, type Change, heldOrder, type LiveRows, noRows } from './live-rows.ts';
import { RequestError } from './rest.ts';
import type { Row } from './row.ts';
import type { LiveSocket, SubscriptionHandle } from './socket.ts';

/** Folded branches of a tree: all branches except those in `except`, or only those. */
export interface TreeShape {
  readonly folded: boolean;
  /** Ids. */
  readonly except: readonly string[];
}

/** One test of a property. */
export interface Test {
  readonly op: Operator;
  readonly value: string;
}

/** Tests by property, all of which must hold; a text alone means `is`. */
export type Filter = Readonly<Record<string, string | readonly Test[]>>;

/** Query for the rows of a menu to show. */
export interface Query {
  readonly first: number;
  readonly count: number;
  readonly sort: { readonly by: string; readonly desc: boolean } | null;
  readonly filter: Filter;
  readonly find: string;
  /** Shape of the tree, for menus whose items have parents; null for a list. */
  readonly tree?: TreeShape | null;
}

/** Maximum time for which rows keep their order while the pointer is over them, ms. */
const HOLD_MS = 10_000;

function toRequest(query: Query): RowQueryPart {
  return {
    first: query.first,
    count: query.count,
    sort: query.sort,
    filter: query.filter,
    find: query.find,
    ...(query.tree === undefined ? {} : { tree: query.tree }),
  };
}

/** The subscription without empty sort order, filter and search text. */
function toSubscription(menu: string, query: Query, intervalMs: number): Subscription {
  return {
    topic: 'menu',
    menu,
    first: query.first,
    count: query.count,
    intervalMs,
    ...(query.sort === null ? {} : { sort: query.sort }),
    ...(Object.keys(query.filter).length === 0 ? {} : { filter: query.filter }),
    ...(query.find === '' ? {} : { find: query.find }),
    ...(query.tree === undefined || query.tree === null ? {} : { tree: query.tree }),
  };
}

/** A condition of a filter that the server refuses. */
interface RefusedCondition extends Condition {
  /** The server's reason. */
  readonly why: string;
}

/** The condition that an error message names. */
const refusedBy = ({ condition, detail }: Failure): RefusedCondition | undefined =>
  condition === undefined ? undefined : { ...condition, why: detail.replace(/^filter: /, '') };

export class LiveMenu {
  readonly #socket: Pick<LiveSocket, 'subscribe'>;
  readonly #menu: string;
  readonly #intervalMs: number;
  readonly #listeners = new Set<(change: Change) => void>();
  #query: Query;
  #handle: SubscriptionHandle | undefined;
  #loadedQuery: Query;
  #state: LiveRows = noRows;
  #shown: readonly string[] = [];
  #staleRows = new Map<string, Row>();
  /** Moves that the server has not confirmed yet. */
  #reorders: ((order: readonly string[]) => readonly string[])[] = [];
  #heldSince: number | undefined;
  #frozen = false;
  /** Whether a requested snapshot has not arrived yet; a frozen subscription accepts nothing else. */
  #snapshotAwaited = true;
  #error: string | undefined;
  #refused: RefusedCondition | undefined;

  constructor(socket: Pick<LiveSocket, 'subscribe'>, menu: string, query: Query, intervalMs: number) {
    this.#socket = socket;
    this.#menu = menu;
    this.#query = query;
    this.#loadedQuery = query;
    this.#intervalMs = intervalMs;
  }

  get state(): LiveRows {
    return this.#state;
  }

  get query(): Query {
    return this.#query;
  }

  /** The query of the rows in {@link state}; it differs from {@link query} until the new rows have arrived. */
  get loadedQuery(): Query {
    return this.#loadedQuery;
  }

  /** Reason why the server refuses the subscription. */
  get error(): string | undefined {
    return this.#error;
  }

  /**
   * The condition that the server refuses; undefined if the subscription was refused for another reason, or not at all.
   */
  get refused(): RefusedCondition | undefined {
    return this.#error === undefined ? undefined : this.#refused;
  }

  /** Ids of the loaded rows in the order to show. */
  get shown(): readonly string[] {
    return this.#shown;
  }

  /** A loaded row, including one that was removed while rows keep their order. */
  row(id: string): Row | undefined {
    return this.#state.rows.get(id) ?? this.#staleRows.get(id);
  }

  /** Whether a row has been removed and keeps its position for now. */
  isStale(id: string): boolean {
    return !this.#state.rows.has(id) && this.#staleRows.has(id);
  }

  /** Calls `listener` after each change. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  open(): void {
    this.#handle ??= this.#socket.subscribe(toSubscription(this.#menu, this.#query, this.#intervalMs), (message) =>
      this.#receive(message),
    );
  }

  /** Ends the subscription. The loaded rows are kept; {@link open} resumes with the same query. */
  close(): void {
    this.#handle?.close();
    this.#handle = undefined;
    this.release();
  }

  /** Changes the query. */
  changeQuery(part: Partial<Query>): void {
    const before = this.#query;
    this.#query = { ...before, ...part };
    this.#snapshotAwaited = true;
    this.release();
    if (this.#error === undefined || this.#handle === undefined) {
      this.#handle?.update(toRequest(this.#query));
      return;
    }
    // After a refusal the server has either no subscription, or one with the previous query.
    this.#error = undefined;
    this.#handle.close();
    this.#handle = undefined;
    this.open();
  }

  /**
   * Reorders the loaded rows at once, before the server has confirmed the change. The change is also applied to orders
   * that the server sent before it handled the request.
   * @returns a function to call after the server's response
   */
  reorder(change: (order: readonly string[]) => readonly string[]): () => void {
    this.#reorders.push(change);
    this.#state = { ...this.#state, order: change(this.#state.order) };
    this.#settle();
    this.#notify({ rows: new Set(), order: true });
    return () => {
      this.#reorders = this.#reorders.filter((each) => each !== change);
    };
  }

  /** Requests a new snapshot, e.g. when a move that is already shown has failed. */
  refresh(): void {
    this.#snapshotAwaited = true;
    this.#handle?.update(toRequest(this.#query));
  }

  /** Keeps the order of the rows, for 10 s at most. */
  hold(): void {
    this.#heldSince ??= performance.now();
  }

  /** Ends {@link hold}. */
  release(): void {
    if (this.#heldSince === undefined) return;
    this.#heldSince = undefined;
    if (this.#shown !== this.#state.order) {
      this.#settle();
      this.#notify({ rows: new Set(), order: true });
    }
  }

  #settle(): void {
    this.#shown = this.#state.order;
    this.#staleRows.clear();
  }

  /**
   * Ignores updates while frozen, and requests a snapshot afterwards. Responses to {@link changeQuery} are always
   * accepted.
   */
  freeze(frozen: boolean): void {
    if (frozen === this.#frozen) return;
    this.#frozen = frozen;
    if (!frozen) this.refresh();
  }

  #receive(message: ServerMessage): void {
    // After a refusal the server may continue with the previous query, whose rows must be ignored.
    if (message.op === 'delta' && (this.#frozen || this.#error !== undefined)) return;
    // Each new subscription begins with a snapshot, also after a reconnect.
    if (message.op === 'snapshot' && this.#frozen && !this.#snapshotAwaited) return;
    if (message.op === 'error') {
      this.#error = message.detail;
      this.#refused = refusedBy(message);
      this.#state = noRows;
      this.#settle();
      this.#notify({ rows: new Set(), order: true });
      return;
    }
    const before = this.#state;
    const { state: sent, change } = applyMessage(before, message);
    if (!change.order && change.rows.size === 0) return;
    const state = { ...sent, order: this.#reorders.reduce((order, reorder) => reorder(order), sent.order) };
    this.#state = state;
    if (message.op === 'snapshot') {
      this.#loadedQuery = this.#query;
      this.#snapshotAwaited = false;
    }
    this.#error = undefined;
    const now = performance.now();
    const held = this.#heldSince !== undefined && now - this.#heldSince < HOLD_MS && state.first === before.first;
    if (held) {
      for (const [id, row] of before.rows) if (!state.rows.has(id)) this.#staleRows.set(id, row);
      this.#shown = heldOrder(this.#shown, state.order);
    } else {
      if (this.#heldSince !== undefined) this.#heldSince = now;
      this.#settle();
    }
    this.#notify(change);
  }

  #notify(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

type Socket = Pick<LiveSocket, 'subscribe'>;

/** Timeout of a page of ids, ms. */
const PAGE_MS = 10_000;

/** Number of items that pass a query. */
export function countOf(socket: LiveSocket, menu: string, query: Query): Promise<number> {
  return new Promise((resolve, reject) => {
    const live = new LiveMenu(socket, menu, { ...query, first: 0, count: 0 }, 60_000);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      live.close();
      settle();
    };
    const timer = setTimeout(
      () => finish(() => reject(new RequestError(0, 'the router did not answer in time'))),
      PAGE_MS,
    );
    live.subscribe(() => {
      const { state, error } = live;
      if (error !== undefined) finish(() => reject(new RequestError(0, error)));
      else if (state.loaded) finish(() => resolve(state.matched));
    });
    live.open();
  });
}

/** Whether a row is in a tree only as an ancestor of others, and does not pass filter and search itself. */
export function isContext(row: Row | undefined): boolean {
  return row?.['.context'] === 'true';
}

/** Ids of all items that pass a query, in its order, e.g. to select all of them. */
export const idsOf = (socket: Socket, menu: string, query: Query): Promise<readonly string[]> =>
  mapItems(socket, menu, query, (id) => id);

/** Maps all items that pass a query, in its order; undefined results are left out. */
export function mapItems<T>(
  socket: Socket,
  menu: string,
  query: Query,
  take: (id: string, row: Row) => T | undefined,
): Promise<readonly T[]> {
  return new Promise((resolve, reject) => {
    const all: T[] = [];
    let read = 0;
    const live = new LiveMenu(socket, menu, { ...query, first: 0, count: MAX_ROWS }, 60_000);
    const late = () => finish('the router did not list the items in time');
    let timer = setTimeout(late, PAGE_MS);
    const finish = (problem: string | undefined) => {
      clearTimeout(timer);
      live.close();
      if (problem === undefined) resolve(all);
      else reject(new RequestError(0, problem));
    };
    live.subscribe(() => {
      const { state, error } = live;
      if (error !== undefined) finish(error);
      else if (!state.loaded || state.first !== read) return;
      else {
        for (const id of state.order) {
          const row = state.rows.get(id);
          const taken = row === undefined || isContext(row) ? undefined : take(id, row);
          if (taken !== undefined) all.push(taken);
        }
        read += state.order.length;
        if (state.order.length === 0 || read >= state.matched) finish(undefined);
        else {
          clearTimeout(timer);
          timer = setTimeout(late, PAGE_MS);
          live.changeQuery({ first: read });
        }
      }
    });
    live.open();
  });
}
