/** Joins scroll position, live window and painter: which rows are on screen, what to ask for, when to draw. */
import type { Query } from '../api/live-menu.ts';
import { ColumnLayout, type ColumnLayoutOptions } from './column-layout.ts';
import type { Column } from './columns.ts';
import { RowGeometry } from './row-geometry.ts';
import { RowLines, RowPainter } from './row-painter.ts';
import { rowsToAsk } from './rows-to-ask.ts';
import { noSelection, type Selection } from './selection.ts';

interface GridViewOptions extends ColumnLayoutOptions {
  readonly body: HTMLElement;
  readonly pane: HTMLElement;
  readonly gridId: string;
  /** Follows the end of the list while it is in view. */
  readonly tail: boolean;
}

/** Rows drawn beyond the screen, above and below. */
const OVERDRAW = 4;
/** Least time between two windows that are asked for while scrolling, ms. */
const ASK_MS = 60;
/** Without a step for this long, scrolling is over, ms. */
const REST_MS = 120;
/** What the browser measured; read when something changed it, never while drawing, where reading forces a layout. */
interface Measures {
  readonly line: number;
  readonly head: number;
  /** Height left for rows. */
  readonly viewport: number;
  readonly width: number;
}

/** Whether two queries are about the same rows in the same order, whichever part of them is shown. */
function isSameList(one: Query, other: Query): boolean {
  return one.sort === other.sort && one.filter === other.filter && one.find === other.find;
}

export class GridView {
  readonly #options: GridViewOptions;
  readonly #geometry = new RowGeometry();
  readonly #painter: RowPainter;
  readonly #stops: (() => void)[] = [];
  readonly #layout: ColumnLayout;
  #lines: RowLines;
  #selection: Selection = noSelection;
  #measures: Measures = { line: 24, head: 24, viewport: 0, width: 0 };
  #scrollTop = 0;
  /** What was wanted when the keyboard last went to a row. */
  #focusQuery: Query | undefined;
  #height = -1;
  #rows = -1;
  #frame = 0;
  /** Runs while the list is being scrolled. */
  #scrollEnd: ReturnType<typeof setTimeout> | undefined;
  #asking: ReturnType<typeof setTimeout> | undefined;
  /** The pointer is on the table, or drags something of it: columns stay where they are. */
  #isHovered = false;
  #atEnd = true;
  #pending: { index: number; found: (id: string) => void } | undefined;
  /** Number of the row that the keyboard is on, or was when that was last known. */
  #lastFocus = 0;
  #active: string | undefined;
  /** The rows that were laid last, and the place of the first one. */
  #laid: { readonly first: number; readonly shown: readonly string[] } = { first: 0, shown: [] };
  /** What the known extra lines belong to. */
  #listed: { readonly query: Query; readonly matched: number } | undefined;

  constructor(options: GridViewOptions) {
    this.#options = options;
    this.#layout = new ColumnLayout(options);
    this.#painter = new RowPainter(options.pane, options.menu, options.gridId);
    const { scroller, live } = options;
    this.#lines = new RowLines(options.menu, [], '');
    const scroll = () => {
      this.#scrollTop = scroller.scrollTop;
      this.#atEnd = this.#isAtEnd();
      clearTimeout(this.#scrollEnd);
      this.#scrollEnd = setTimeout(() => {
        this.#scrollEnd = undefined;
        this.#schedule();
      }, REST_MS);
      this.#schedule();
    };
    scroller.addEventListener('scroll', scroll, { passive: true });
    this.#stops.push(() => scroller.removeEventListener('scroll', scroll));
    const point = () => {
      this.#isHovered = true;
    };
    const leave = () => {
      this.#isHovered = false;
      this.#schedule();
    };
    scroller.addEventListener('pointerenter', point);
    scroller.addEventListener('pointerleave', leave);
    this.#stops.push(() => {
      scroller.removeEventListener('pointerenter', point);
      scroller.removeEventListener('pointerleave', leave);
    });
    const resize = new ResizeObserver(() => this.remeasure());
    resize.observe(scroller);
    this.#stops.push(() => resize.disconnect());
    this.#stops.push(
      live.subscribe((change) => {
        if (change.order) this.#relist();
        this.#schedule();
      }),
    );
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#asking);
    clearTimeout(this.#scrollEnd);
    for (const stop of this.#stops) stop();
  }

  /** Reads the sizes of things anew; to be called when they may have changed. */
  remeasure(): void {
    const { scroller } = this.#options;
    // On a tab that is not shown nothing has a size; what was measured before still holds.
    if (scroller.clientHeight === 0) return;
    const line = Number.parseFloat(getComputedStyle(scroller).getPropertyValue('--row'));
    const head = scroller.firstElementChild instanceof HTMLElement ? scroller.firstElementChild.offsetHeight : 0;
    this.#measures = {
      line: Number.isFinite(line) && line > 0 ? line : 24,
      head,
      viewport: Math.max(scroller.clientHeight - head, 0),
      width: scroller.clientWidth,
    };
    this.#scrollTop = scroller.scrollTop;
    // With more room the browser scrolls up to the end before the new size is known here.
    this.#atEnd ||= this.#isAtEnd();
    this.#layout.lay(this.#layout.columns, this.#measures.width);
    this.#schedule();
  }

  #isAtEnd(): boolean {
    return this.#scrollTop + this.#measures.viewport >= this.#geometry.scrollable - 4;
  }

  /** Position of the first loaded row. */
  get firstLoaded(): number {
    return this.#options.live.state.first;
  }

  /** The last row of the list is loaded. */
  get endLoaded(): boolean {
    return this.firstLoaded + this.order().length >= this.#count();
  }

  get rowsInView(): number {
    return Math.max(1, Math.floor(this.#measures.viewport / this.#measures.line));
  }

  /** Ids of the loaded rows in order. */
  order(): readonly string[] {
    return this.#options.live.shown;
  }

  show(columns: readonly Column[], selection: Selection): void {
    const relaid = columns !== this.#layout.columns;
    this.#selection = selection;
    if (relaid) {
      this.#painter.setColumns(columns);
      this.#lines = new RowLines(this.#options.menu, columns, this.#options.live.query.find);
      // Comments may have lines of their own now, or none any more.
      this.#geometry.clearExtra();
      this.#layout.lay(columns, this.#measures.width);
    }
    this.#paint();
  }

  /** Shows a width while it is being changed. */
  resize(name: string, width: number): void {
    this.#layout.resize(name, width);
  }

  /**
   * Number of the row that is so many rows, up to negative, from the one that the keyboard is on. Where that one is gone, the
   * row that took its place is the next one.
   */
  stepFrom(id: string | undefined, rows: number): number {
    const at = id === undefined ? -1 : this.order().indexOf(id);
    if (at >= 0) return this.firstLoaded + at + rows;
    const place = this.#lastFocus - this.firstLoaded;
    const isGone = id === undefined || (place >= 0 && place < this.order().length);
    return this.#lastFocus + (isGone && rows > 0 ? rows - 1 : rows);
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
    this.#focusQuery = this.#options.live.query;
    this.#reveal(to);
    const id = this.#idAt(to);
    if (id !== undefined) found(id);
    else this.#pending = { index: to, found };
    this.#schedule();
  }

  /** A point of the page on a row, e.g. for a menu that the keyboard asks for; in the corner when it is out of view. */
  pointOf(id: string | undefined): { x: number; y: number } {
    const { left, top, bottom } = this.#options.scroller.getBoundingClientRect();
    const { head, line } = this.#measures;
    const offset = this.#geometry.offsetOf(this.#scrollTop, this.#measures.viewport);
    const y = top + head + this.#geometry.top(Math.max(this.focusIndex(id), 0)) - offset + line;
    return { x: left + 48, y: Math.min(Math.max(y, top + head), bottom) };
  }

  /**
   * The gap between rows that is nearest to a point on the screen, and its y in the body.
   *
   * @param least the first gap that may be meant
   */
  gapAt(clientY: number, least: number): { gap: number; y: number } {
    const y = clientY - this.#options.body.getBoundingClientRect().top;
    const shift = this.#shift();
    const index = this.#geometry.rowAt(Math.max(0, y + shift));
    const top = this.#geometry.top(index);
    const height = this.#geometry.height(index);
    const gap = Math.max(least, y + shift > top + height / 2 ? index + 1 : index);
    return { gap, y: this.#geometry.top(gap) - shift };
  }

  /**
   * The row at a point on the screen, as position in the loaded rows, which it may lie outside of, and how far down in
   * it the point is, 0 to 1; its y and height in the body. Without a position below the last row.
   */
  rowAtPoint(clientY: number): { at: number | undefined; share: number; y: number; height: number } {
    const shift = this.#shift();
    const offset = clientY - this.#options.body.getBoundingClientRect().top + shift;
    const geometry = this.#geometry;
    if (offset >= geometry.full) return { at: undefined, share: 0, y: geometry.full - shift, height: 0 };
    const index = geometry.rowAt(Math.max(0, offset));
    const [top, height] = [geometry.top(index), geometry.height(index)];
    return { at: index - this.firstLoaded, share: (offset - top) / height, y: top - shift, height };
  }

  /** Scrolls a little when a point on the screen is at the upper or lower edge of the list; false when it is not. */
  scrollTowards(clientY: number): boolean {
    const { scroller } = this.#options;
    const { top, bottom } = scroller.getBoundingClientRect();
    const { line, head } = this.#measures;
    const above = top + head + line - clientY;
    const below = clientY - (bottom - line);
    if (above <= 0 && below <= 0) return false;
    const before = scroller.scrollTop;
    const step = Math.min(line, Math.max(above, below) / 2 + 1);
    scroller.scrollTop += above > 0 ? -step : step;
    this.#scrollTop = scroller.scrollTop;
    return this.#scrollTop !== before;
  }

  /** Width that fits the loaded content of a column. */
  fit(name: string): number | undefined {
    return this.#layout.fit(name);
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
    return this.#geometry.offsetOf(this.#scrollTop, this.#measures.viewport) - this.#scrollTop;
  }

  #scrollTo(scrollTop: number): void {
    const { scroller } = this.#options;
    scroller.scrollTop = scrollTop;
    this.#scrollTop = scroller.scrollTop;
  }

  #reveal(index: number): void {
    const { viewport } = this.#measures;
    const offset = this.#geometry.offsetOf(this.#scrollTop, viewport);
    const top = this.#geometry.top(index);
    const bottom = top + this.#geometry.height(index);
    if (top < offset) this.#scrollTo(this.#geometry.scrollFor(top, viewport));
    else if (bottom > offset + viewport) this.#scrollTo(this.#geometry.scrollFor(bottom - viewport, viewport));
  }

  /** Another list, or the same one after rows came or went: what is known of rows out of the window counts no more. */
  #relist(): void {
    const { query, state } = this.#options.live;
    const before = this.#listed;
    this.#listed = { query, matched: state.matched };
    if (before === undefined) return;
    const same = isSameList(before.query, query);
    // Whoever went somewhere while the list was on its way meant a place in it.
    const aimed = this.#focusQuery !== undefined && isSameList(this.#focusQuery, query);
    if (!same && state.loaded && !aimed) this.#scrollTo(0);
    if (!same) this.#focusQuery = undefined;
    if (!same && !aimed) this.#lastFocus = 0;
    if (!same || before.matched !== state.matched) this.#geometry.clearExtra();
  }

  #schedule(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  }

  /** Where the row is now that was laid at a place: of a log that is full one leaves at the start for each that comes. */
  #placeNow(index: number): number {
    const { first, shown } = this.#laid;
    const places = new Map(this.order().map((id, at) => [id, this.firstLoaded + at]));
    // It may have left what is loaded, when many came at once: those below it moved as far.
    for (let at = Math.max(0, index - first); at < shown.length; at += 1) {
      const place = places.get(shown[at] ?? '');
      if (place !== undefined) return Math.max(0, index + place - (first + at));
    }
    return index;
  }

  /** Learns how tall the rows are. What is at the top of the screen stays there. */
  #lay(): void {
    const { live, menu, body, scroller, tail } = this.#options;
    const { viewport, line } = this.#measures;
    const { find } = live.query;
    if (find !== this.#lines.find) this.#lines = new RowLines(menu, this.#layout.columns, find);
    const geometry = this.#geometry;
    const offset = geometry.offsetOf(this.#scrollTop, viewport);
    const before = geometry.rowAt(offset);
    const into = offset - geometry.top(before);
    const anchor = tail ? this.#placeNow(before) : before;
    this.#laid = { first: this.firstLoaded, shown: live.shown };
    geometry.resize(this.#count(), line);
    for (const [at, id] of live.shown.entries()) {
      const row = live.row(id);
      if (row !== undefined) geometry.setExtra(live.state.first + at, this.#lines.count(row));
    }
    if (this.#height !== geometry.scrollable) {
      this.#height = geometry.scrollable;
      body.style.height = `${this.#height}px`;
    }
    if (this.#rows !== this.#count()) {
      this.#rows = this.#count();
      scroller.setAttribute('aria-rowcount', String(this.#rows + 1));
    }
    if (tail && this.#atEnd) {
      const end = Math.max(0, geometry.scrollable - viewport);
      if (Math.abs(end - this.#scrollTop) > 1) this.#scrollTo(end);
    } else if (this.#scrollTop > 0 && anchor < geometry.count) {
      const now = geometry.top(anchor) + into;
      if (Math.abs(now - offset) > 1) this.#scrollTo(geometry.scrollFor(now, viewport));
    }
  }

  #paint(): void {
    const { live, scroller } = this.#options;
    this.#lay();
    // The rows above the one that the keyboard goes to may turn out to be taller than was known.
    const aim = this.#pending?.index;
    if (aim !== undefined && this.#idAt(aim) !== undefined) this.#reveal(aim);
    const geometry = this.#geometry;
    const offset = geometry.offsetOf(this.#scrollTop, this.#measures.viewport);
    const top = geometry.rowAt(offset);
    const bottom = geometry.rowAt(offset + this.#measures.viewport);
    this.#ask();

    const first = Math.max(0, top - OVERDRAW);
    const last = Math.min(geometry.count - 1, bottom + OVERDRAW);
    const shift = Math.round(offset - this.#scrollTop);
    const plain = live.query.find === '' && Object.keys(live.query.filter).length === 0 && live.query.sort === null;
    this.#painter.paint({
      first,
      last,
      top: (index) => geometry.top(index) - shift,
      height: (index) => geometry.height(index),
      idAt: (index) => this.#idAt(index),
      isScrolling: this.#scrollEnd !== undefined,
      row: (id) => live.row(id),
      isStale: (id) => live.isStale(id),
      lines: this.#lines,
      selected: this.#selection.ids,
      focus: this.#selection.focus,
      number: (index, row) => row['.nr'] ?? (plain ? String(index) : ''),
    });
    const { focus } = this.#selection;
    const at = focus === undefined ? -1 : live.shown.indexOf(focus);
    if (at >= 0) this.#lastFocus = this.firstLoaded + at;
    const active = focus !== undefined && at >= 0 ? this.#painter.elementId(focus) : undefined;
    if (active !== this.#active) {
      this.#active = active;
      if (active === undefined) scroller.removeAttribute('aria-activedescendant');
      else scroller.setAttribute('aria-activedescendant', active);
    }

    const pending = this.#pending;
    const id = pending === undefined ? undefined : this.#idAt(pending.index);
    if (pending !== undefined && id !== undefined) {
      this.#pending = undefined;
      pending.found(id);
    }
    if (live.state.loaded && live.state.order.length > 0) {
      this.#layout.measureNew();
      if (!this.#isHovered && this.#scrollEnd === undefined) this.#layout.grow(this.#painter.takeOutgrownColumns());
    }
  }

  /** Asks for the rows around the screen when those at hand do not cover it. While scrolling, not for every step. */
  #ask(): void {
    if (this.#asking !== undefined || this.#wanted() === undefined) return;
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      const wanted = this.#wanted();
      if (wanted !== undefined) this.#options.live.show(wanted);
    }, ASK_MS);
  }

  #wanted(): Pick<Query, 'first' | 'count'> | undefined {
    const { live } = this.#options;
    if (!live.state.loaded) return undefined;
    const geometry = this.#geometry;
    const offset = geometry.offsetOf(this.#scrollTop, this.#measures.viewport);
    const top = geometry.rowAt(offset);
    const last = Math.min(geometry.rowAt(offset + this.#measures.viewport), geometry.count - 1);
    return rowsToAsk({ top, last, fitting: this.rowsInView, total: geometry.count }, live.query);
  }
}
