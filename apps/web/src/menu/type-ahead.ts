/** Typing letters moves to the first row that begins with them, in the column by which the list is sorted. */
import type { Menu } from '@tollway/schema';
import { live as socket } from '../api/live.ts';
import { countOf, type LiveMenu } from '../api/live-menu.ts';
import { cellText } from './cells/text.ts';
import type { Column } from './columns.ts';

/** Pause after which the next key begins a new text, ms. */
const PAUSE_MS = 800;

export class TypeAhead {
  readonly #menu: Menu;
  readonly #live: LiveMenu;
  #typed = '';
  #at = 0;

  constructor(menu: Menu, live: LiveMenu) {
    this.#menu = menu;
    this.#live = live;
  }

  /** Handles a key and reports the position of the row to move to, if there is one. */
  type(key: string, columns: readonly Column[], go: (index: number) => void): void {
    const now = performance.now();
    this.#typed = now - this.#at > PAUSE_MS ? key : this.#typed + key;
    this.#at = now;
    const { query, state, shown } = this.#live;
    const by = query.sort?.by;
    const column = columns.find(
      ({ name, source }) => source !== undefined && (by === undefined || name === by),
    )?.source;
    if (column === undefined) return;
    const wanted = this.#typed.toLowerCase();
    const index = shown.findIndex((id) => {
      const row = this.#live.row(id);
      return row !== undefined && cellText(column, row).toLowerCase().startsWith(wanted);
    });
    if (index >= 0) {
      go(state.first + index);
      return;
    }
    if (by === undefined || state.order.length === state.matched) return;
    // The position is the number of rows before the text in the order of the list: those with lesser (or greater)
    // values.
    const op = query.sort?.desc === true ? 'more' : 'less';
    const typed = this.#typed;
    const others = query.filter[by];
    const tests = typeof others === 'string' ? [{ op: 'is', value: others } as const] : (others ?? []);
    const before = { ...query, filter: { ...query.filter, [by]: [...tests, { op, value: typed } as const] } };
    countOf(socket, this.#menu.path, before)
      .then((count) => typed === this.#typed && count < this.#live.state.matched && go(count))
      // A text that is no value of the column moves nowhere.
      .catch(() => {});
  }
}
