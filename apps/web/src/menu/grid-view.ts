/** Joins scroll position, live window and painter: which rows are on screen, what to ask for, when to draw. */
import type { Menu } from '@tollway/schema';
import type { LiveMenu } from '../api/live-menu.ts';
import { cellText } from './cells/text.ts';
import { type Column, LEAST_WIDTH, WIDEST } from './columns.ts';
import { pins } from './pins.ts';
import { RowGeometry } from './row-geometry.ts';
import { extraLines, RowPainter } from './row-painter.ts';
import { noSelection, type Selection } from './selection.ts';

export interface GridViewOptions {
  readonly scroller: HTMLElement;
  readonly body: HTMLElement;
  readonly pane: HTMLElement;
  readonly menu: Menu;
  readonly live: LiveMenu;
  readonly gridId: string;
  /** Follows the end of the list while it is in view. */
  readonly tail: boolean;
  /** Widths that fit the content of columns that had none. */
  readonly measured: (widths: readonly (readonly [string, number])[]) => void;
}

/** Rows asked for beyond the screen, above and below. */
const MARGIN = 40;
/** Rows drawn beyond the screen, above and below. */
const OVERDRAW = 6;
/** Wait before another window is asked for while scrolling, ms. */
const ASK_MS = 60;

/** As wide as the texts of live values usually become, by kind. */
const WIDE_TEXT: Readonly<Record<string, string>> = {
  rate: '999.9Mbps',
  bytes: '999.9 MiB',
  counter: '9 999 999',
  duration: '1d 00:00:00',
};

/** Column tracks. A text at the end takes the space that is left; after a number an empty track does. */
function tracks(columns: readonly Column[]): string {
  const last = columns.length - 1;
  return columns
    .map(({ width, label, right }, index) => {
      const px = `${width ?? Math.max(60, label.length * 8 + 26)}px`;
      if (index < last) return px;
      return right ? `${px} minmax(0, 1fr)` : `minmax(${px}, 1fr)`;
    })
    .join(' ');
}

export class GridView {
  readonly #options: GridViewOptions;
  readonly #geometry = new RowGeometry();
  readonly #painter: RowPainter;
  readonly #stops: (() => void)[] = [];
  #columns: readonly Column[] = [];
  #selection: Selection = noSelection;
  #frame = 0;
  #asking: ReturnType<typeof setTimeout> | undefined;
  #atEnd = true;
  #pending: { index: number; found: (id: string) => void } | undefined;
  #lastFocus = 0;

  constructor(options: GridViewOptions) {
    this.#options = options;
    this.#painter = new RowPainter(options.pane, options.menu, options.gridId);
    const schedule = () => this.#schedule();
    const scroll = () => {
      const { scroller } = options;
      this.#atEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 4;
      schedule();
    };
    options.scroller.addEventListener('scroll', scroll, { passive: true });
    this.#stops.push(() => options.scroller.removeEventListener('scroll', scroll));
    const resize = new ResizeObserver(() => {
      this.#pin();
      schedule();
    });
    resize.observe(options.scroller);
    this.#stops.push(() => resize.disconnect());
    this.#stops.push(
      options.live.subscribe((change) => {
        if (change.order) this.#geometry.clearExtra();
        schedule();
      }),
    );
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#asking);
    for (const stop of this.#stops) stop();
  }

  /** Position of the first loaded row. */
  get firstLoaded(): number {
    return this.#options.live.state.first;
  }

  get rowsInView(): number {
    return Math.max(1, Math.floor(this.#viewport() / this.#line()));
  }

  /** Ids of the loaded rows in order. */
  order(): readonly string[] {
    return this.#options.live.shown;
  }

  show(columns: readonly Column[], selection: Selection): void {
    this.#columns = columns;
    this.#selection = selection;
    this.#painter.setColumns(columns);
    const { scroller } = this.#options;
    scroller.style.setProperty('--columns', tracks(columns));
    this.#pin();
    this.#paint();
  }

  /** Number of the row with an id; where the keyboard last was when it is not loaded. */
  focusIndex(id: string | undefined): number {
    const at = id === undefined ? -1 : this.order().indexOf(id);
    return at < 0 ? (id === undefined ? -1 : this.#lastFocus) : this.firstLoaded + at;
  }

  /** Brings a row into view and reports its id, at once or when it is loaded. */
  focusRow(index: number, found: (id: string) => void): void {
    const last = this.#count() - 1;
    if (last < 0) return;
    const to = Math.min(Math.max(index, 0), last);
    this.#lastFocus = to;
    this.#reveal(to);
    const id = this.#idAt(to);
    if (id !== undefined) found(id);
    else this.#pending = { index: to, found };
    this.#schedule();
  }

  /** The gap between rows that is nearest to a point on the screen, and its y in the body. */
  gapAt(clientY: number): { gap: number; y: number } {
    const { body } = this.#options;
    const y = clientY - body.getBoundingClientRect().top;
    const shift = this.#shift();
    const index = this.#geometry.rowAt(Math.max(0, y + shift));
    const top = this.#geometry.top(index);
    const height = this.#geometry.height(index);
    const gap = y + shift > top + height / 2 ? index + 1 : index;
    return { gap, y: this.#geometry.top(gap) - shift };
  }

  /** Scrolls a little when a point on the screen is at the upper or lower edge of the list; false when it is not. */
  scrollTowards(clientY: number): boolean {
    const { scroller } = this.#options;
    const { top, bottom } = scroller.getBoundingClientRect();
    const line = this.#line();
    const above = top + this.#head() + line - clientY;
    const below = clientY - (bottom - line);
    if (above <= 0 && below <= 0) return false;
    const before = scroller.scrollTop;
    const step = Math.min(line, Math.max(above, below) / 2 + 1);
    scroller.scrollTop += above > 0 ? -step : step;
    return scroller.scrollTop !== before;
  }

  /** Width that fits the loaded content of a column. */
  fit(name: string): number | undefined {
    const column = this.#columns.find((each) => each.name === name);
    return column === undefined ? undefined : this.#measure(column);
  }

  /** Keeps the counters at the right edge in view where there is room for them. */
  #pin(): void {
    const { scroller } = this.#options;
    const { offsets, fit } = pins(this.#columns, scroller.clientWidth);
    for (const [name, offset] of offsets) scroller.style.setProperty(name, offset);
    scroller.classList.toggle('grid-pinned', fit);
  }

  #line(): number {
    const line = Number.parseFloat(getComputedStyle(this.#options.scroller).getPropertyValue('--row'));
    return Number.isFinite(line) && line > 0 ? line : 24;
  }

  #head(): number {
    const head = this.#options.scroller.firstElementChild;
    return head instanceof HTMLElement ? head.offsetHeight : 0;
  }

  #viewport(): number {
    return Math.max(this.#options.scroller.clientHeight - this.#head(), 0);
  }

  #count(): number {
    const { state, shown } = this.#options.live;
    return Math.max(state.matched, state.first + shown.length);
  }

  #idAt(index: number): string | undefined {
    return this.#options.live.shown[index - this.firstLoaded];
  }

  /** Difference between a y of the full list and a y of the body. */
  #shift(): number {
    const { scrollTop } = this.#options.scroller;
    return this.#geometry.offsetOf(scrollTop, this.#viewport()) - scrollTop;
  }

  #reveal(index: number): void {
    const { scroller } = this.#options;
    const viewport = this.#viewport();
    const offset = this.#geometry.offsetOf(scroller.scrollTop, viewport);
    const top = this.#geometry.top(index);
    const bottom = top + this.#geometry.height(index);
    if (top < offset) scroller.scrollTop = this.#geometry.scrollFor(top, viewport);
    else if (bottom > offset + viewport) scroller.scrollTop = this.#geometry.scrollFor(bottom - viewport, viewport);
  }

  #schedule(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    const { live, scroller, body, menu, tail } = this.#options;
    const { state } = live;
    this.#geometry.resize(this.#count(), this.#line());
    for (const [at, id] of live.shown.entries()) {
      const row = live.row(id);
      if (row !== undefined) this.#geometry.setExtra(state.first + at, extraLines(menu, row));
    }
    body.style.height = `${this.#geometry.scrollable}px`;
    if (tail && this.#atEnd) scroller.scrollTop = scroller.scrollHeight;
    scroller.setAttribute('aria-rowcount', String(this.#count() + 1));

    const viewport = this.#viewport();
    const offset = this.#geometry.offsetOf(scroller.scrollTop, viewport);
    const top = this.#geometry.rowAt(offset);
    const bottom = this.#geometry.rowAt(offset + viewport);
    this.#ask(top, bottom);

    const first = Math.max(0, top - OVERDRAW);
    const last = Math.min(this.#geometry.count - 1, bottom + OVERDRAW);
    const plain = live.query.find === '' && Object.keys(live.query.filter).length === 0 && live.query.sort === null;
    this.#painter.paint({
      first,
      last,
      top: this.#geometry.top(first) - (offset - scroller.scrollTop),
      idAt: (index) => this.#idAt(index),
      row: (id) => live.row(id),
      ghost: (id) => live.isGhost(id),
      selected: this.#selection.ids,
      focus: this.#selection.focus,
      number: (index, row) => row['.nr'] ?? (plain ? String(index) : ''),
    });
    const { focus } = this.#selection;
    if (focus !== undefined && live.shown.includes(focus)) {
      scroller.setAttribute('aria-activedescendant', this.#painter.elementId(focus));
    } else scroller.removeAttribute('aria-activedescendant');

    const pending = this.#pending;
    const id = pending === undefined ? undefined : this.#idAt(pending.index);
    if (pending !== undefined && id !== undefined) {
      this.#pending = undefined;
      pending.found(id);
    }
    if (state.loaded && state.order.length > 0) this.#measureNew();
  }

  /** Asks for the rows around the screen when those at hand do not cover it. */
  #ask(top: number, bottom: number): void {
    const { live } = this.#options;
    const { state } = live;
    const last = Math.min(bottom, this.#geometry.count - 1);
    const rows = Math.max(bottom - top + 1, this.rowsInView);
    const count = rows + 2 * MARGIN;
    const first = Math.max(0, top - MARGIN);
    const { first: askedFirst, count: askedCount } = live.query;
    const covered = top >= askedFirst && last < askedFirst + askedCount;
    const near = top - askedFirst < MARGIN / 4 && askedFirst > 0;
    const far = askedFirst + askedCount - last < MARGIN / 4 && askedFirst + askedCount < this.#geometry.count;
    if ((covered && !near && !far) || !state.loaded) return;
    clearTimeout(this.#asking);
    this.#asking = setTimeout(() => live.show({ first, count }), ASK_MS);
  }

  #measureNew(): void {
    const unknown = this.#columns.filter((column) => column.width === undefined);
    if (unknown.length === 0) return;
    this.#options.measured(unknown.map((column) => [column.name, this.#measure(column)] as const));
  }

  #measure(column: Column): number {
    const { live, scroller } = this.#options;
    const { shows } = column;
    const context = document.createElement('canvas').getContext('2d');
    const style = getComputedStyle(scroller);
    if (context !== null) context.font = `${style.fontSize} ${style.fontFamily}`;
    const width = (text: string) => context?.measureText(text).width ?? text.length * 7;
    let widest = width(column.label) + 16;
    for (const id of live.shown) {
      const row = live.row(id);
      if (row === undefined || shows === undefined) continue;
      widest = Math.max(widest, width(cellText(shows, row)) + (column.name === 'action' ? 20 : 2));
    }
    // Numbers that tick get room to grow, so that columns stay where they are.
    if (shows?.prop.readOnly === true) widest = Math.max(widest, width(WIDE_TEXT[shows.kind.name] ?? ''));
    return Math.ceil(Math.min(WIDEST, Math.max(LEAST_WIDTH, widest)) + 14);
  }
}
