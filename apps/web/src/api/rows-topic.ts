/** A few rows of a menu for views other than tables. Subscribed while there are listeners. */
import type { Filter } from '@tollway/protocol/live/row-query';
import { applyMessage, type LiveRows, noRows } from './live-rows.ts';
import type { Row } from './row.ts';
import type { LiveSocket } from './socket.ts';
import { Topic } from './topic.ts';

/** Rows and columns to read. */
interface RowsQuery {
  readonly count: number;
  /** Properties that are sent; all when absent. */
  readonly columns?: readonly string[];
  readonly sort?: { readonly by: string; readonly desc: boolean };
  /** Conditions by column: a text it must equal, or an operator with a value. */
  readonly filter?: Filter;
}

export class RowsTopic {
  readonly #topic: Topic;
  #state: LiveRows = noRows;

  /** Adds a callback for changes. A stable function. */
  readonly listen: (changed: () => void) => () => void;

  constructor(socket: Pick<LiveSocket, 'subscribe'>, menu: string, query: RowsQuery, intervalMs: number) {
    this.#topic = new Topic(socket, { topic: 'menu', menu, intervalMs, first: 0, ...query }, (message) => {
      this.#state = applyMessage(this.#state, message).state;
    });
    this.listen = (changed) => this.#topic.listen(changed);
  }

  /** False until the first answer. */
  get loaded(): boolean {
    return this.#state.loaded;
  }

  /** Number of rows of the menu that pass the filter. */
  get matched(): number {
    return this.#state.matched;
  }

  get rows(): readonly Row[] {
    return this.#state.order.map((id) => this.#state.rows.get(id)).filter((row) => row !== undefined);
  }
}
