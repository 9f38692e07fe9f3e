/**
 * Connects viewport, live feed and painter of a grid: determines which rows are in view and must be loaded, and when to
 * paint.
 */
import type { Query } from '../api/live-menu.ts';
import type { Column } from './columns.ts';
import { GridColumns, type GridColumnsOptions } from './grid-columns.ts';
import { GridViewport } from './grid-viewport.ts';
import { RowLines, RowPainter } from './row-painter.ts';
import { nextRowRange } from './row-range.ts';
import { noSelection, type Selection } from './selection.ts';

interface GridViewOptions extends GridColumnsOptions {
  readonly body: HTMLElement;
  readonly pane: HTMLElement;
  readonly gridId: string;
  /** Keeps the end of the list in view while it is in view, as new rows arrive. */
  readonly tail: boolean;
}

/** Number of rows painted beyond the view, above and below each. */
const OVERDRAW = 4;
/** Minimum time between two subscriptions while scrolling, ms. */
const ASK_MS = 60;
/** Time without a `scroll` event after which scrolling has ended, ms. */
const REST_MS = 120;

/** Whether two queries give the same rows in the same order, apart from their range. */
function isSameList(one: Query, other: Query): boolean {
  return one.sort === other.sort && one.filter === other.filter && one.find === other.find;
}

export class GridView {
  readonly #options: GridViewOptions;
  readonly viewport: GridViewport;
  readonly #painter: RowPainter;
  readonly #stops: (() => void)[] = [];
  readonly #gridColumns: GridColumns;
  #lines: RowLines;
  #selection: Selection = noSelection;
  /** The query at the last move of the keyboard focus. */
  #focusQuery: Query | undefined;
  #bodyHeight = -1;
  #rowCount = -1;
  #frame = 0;
  /** Timer for the end of scrolling; undefined while the list is not scrolled. */
  #scrollEnd: ReturnType<typeof setTimeout> | undefined;
  #asking: ReturnType<typeof setTimeout> | undefined;
  /** True while the pointer is over the table or drags a part of it: columns must not grow meanwhile. */
  #isHovered = false;
  #pendingFocus: { index: number; found: (id: string) => void } | undefined;
  /** Last known number of the row with the focus. */
  #lastFocus = 0;
  #active: string | undefined;
  /** The rows at the last layout, and the number of the first one. */
  #lastLayout: { readonly first: number; readonly shown: readonly string[] } = { first: 0, shown: [] };
  /** The list that the known heights belong to. */
  #measuredList: { readonly query: Query; readonly matched: number } | undefined;

  constructor(options: GridViewOptions) {
    this.#options = options;
    this.viewport = new GridViewport(options.scroller, options.body);
    this.#gridColumns = new GridColumns(options);
    this.#painter = new RowPainter(options.pane, options.menu, options.gridId);
    const { scroller, live } = options;
    this.#lines = new RowLines(options.menu, [], '');
    const scroll = () => {
      this.viewport.scrolled();
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
        if (change.order) this.#onListChanged();
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

  /** Measures again; called when sizes may have changed. */
  remeasure(): void {
    if (!this.viewport.measure()) return;
    this.#gridColumns.layout(this.#gridColumns.columns, this.viewport.width);
    this.#schedule();
  }

  /** Position of the first loaded row. */
  get firstLoaded(): number {
    return this.#options.live.state.first;
  }

  /** Whether the last row of the list is loaded. */
  get endLoaded(): boolean {
    return this.firstLoaded + this.order().length >= this.#count();
  }

  /** Ids of the loaded rows in order. */
  order(): readonly string[] {
    return this.#options.live.shown;
  }

  show(columns: readonly Column[], selection: Selection): void {
    const relaid = columns !== this.#gridColumns.columns;
    this.#selection = selection;
    if (relaid) {
      this.#painter.setColumns(columns);
      this.#lines = new RowLines(this.#options.menu, columns, this.#options.live.query.find);
      // Comments may now be on separate lines, or no longer.
      this.viewport.geometry.clearExtra();
      this.#gridColumns.layout(columns, this.viewport.width);
    }
    this.#paint();
  }

  /** Applies a width while it is being changed. */
  resize(name: string, width: number): void {
    this.#gridColumns.resize(name, width);
  }

  /**
   * Number of the row at a distance of `rows`, negative upwards, from the one with the focus. If that one has been removed, its
   * successor counts as the next row.
   */
  stepFrom(id: string | undefined, rows: number): number {
    const at = id === undefined ? -1 : this.order().indexOf(id);
    if (at >= 0) return this.firstLoaded + at + rows;
    const place = this.#lastFocus - this.firstLoaded;
    const isGone = id === undefined || (place >= 0 && place < this.order().length);
    return this.#lastFocus + (isGone && rows > 0 ? rows - 1 : rows);
  }

  /** Number of the row with this id; if it is not loaded, the last known number of the row with the focus. */
  focusIndex(id: string | undefined): number {
    const at = id === undefined ? -1 : this.order().indexOf(id);
    return at < 0 ? (id === undefined ? -1 : this.#lastFocus) : this.firstLoaded + at;
  }

  /** Scrolls to a row and calls back with its id, at once or when it is loaded. */
  focusRow(index: number, found: (id: string) => void): void {
    const last = this.#count() - 1;
    if (last < 0) return;
    const to = Math.min(Math.max(index, 0), last);
    this.#lastFocus = to;
    this.#focusQuery = this.#options.live.query;
    this.viewport.reveal(to);
    const id = this.#idAt(to);
    if (id !== undefined) found(id);
    else this.#pendingFocus = { index: to, found };
    this.#schedule();
  }

  /** A point of the page on the row with an id. @see GridViewport.pointOf */
  pointOf(id: string | undefined): { x: number; y: number } {
    return this.viewport.pointOf(Math.max(this.focusIndex(id), 0));
  }

  /** Width that fits the loaded content of a column. */
  fit(name: string): number | undefined {
    return this.#gridColumns.fit(name);
  }

  #count(): number {
    const { state, shown } = this.#options.live;
    return Math.max(state.matched, state.first + shown.length);
  }

  #idAt(index: number): string | undefined {
    return this.#options.live.shown[index - this.firstLoaded];
  }

  /**
   * Begins a new list after a change of the query or of the number of rows: heights of rows that are not loaded become
   * unknown.
   */
  #onListChanged(): void {
    const { query, state } = this.#options.live;
    const before = this.#measuredList;
    this.#measuredList = { query, matched: state.matched };
    if (before === undefined) return;
    const same = isSameList(before.query, query);
    // If the focus was moved while the new list was loading, the move refers to that list.
    const isFocused = this.#focusQuery !== undefined && isSameList(this.#focusQuery, query);
    if (!same && state.loaded && !isFocused) this.viewport.scrollTo(0);
    if (!same) this.#focusQuery = undefined;
    if (!same && !isFocused) this.#lastFocus = 0;
    if (!same || before.matched !== state.matched) this.viewport.geometry.clearExtra();
  }

  #schedule(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  }

  /**
   * The present number of the row that had `index` at the last layout: a full log drops its first row for each new one.
   */
  #movedTo(index: number): number {
    const { first, shown } = this.#lastLayout;
    const places = new Map(this.order().map((id, at) => [id, this.firstLoaded + at]));
    // A row that is no longer loaded is assumed to have moved as far as the next loaded one.
    for (let at = Math.max(0, index - first); at < shown.length; at += 1) {
      const place = places.get(shown[at] ?? '');
      if (place !== undefined) return Math.max(0, index + place - (first + at));
    }
    return index;
  }

  /** Updates the heights of the rows. The row at the top of the view keeps its position. */
  #layout(): void {
    const { live, menu, body, scroller, tail } = this.#options;
    const { viewport } = this;
    const { find } = live.query;
    if (find !== this.#lines.find) this.#lines = new RowLines(menu, this.#gridColumns.columns, find);
    const { geometry, offset } = viewport;
    const before = geometry.rowAt(offset);
    const into = offset - geometry.top(before);
    const anchor = tail ? this.#movedTo(before) : before;
    this.#lastLayout = { first: this.firstLoaded, shown: live.shown };
    geometry.resize(this.#count(), viewport.line);
    for (const [at, id] of live.shown.entries()) {
      const row = live.row(id);
      if (row !== undefined) geometry.setExtra(live.state.first + at, this.#lines.count(row));
    }
    if (this.#bodyHeight !== geometry.scrollableHeight) {
      this.#bodyHeight = geometry.scrollableHeight;
      body.style.height = `${this.#bodyHeight}px`;
    }
    if (this.#rowCount !== this.#count()) {
      this.#rowCount = this.#count();
      scroller.setAttribute('aria-rowcount', String(this.#rowCount + 1));
    }
    if (tail && viewport.isAtEnd) {
      const end = Math.max(0, geometry.scrollableHeight - viewport.height);
      if (Math.abs(end - viewport.scrollTop) > 1) viewport.scrollTo(end);
    } else if (viewport.scrollTop > 0 && anchor < geometry.count) {
      const now = geometry.top(anchor) + into;
      if (Math.abs(now - offset) > 1) viewport.scrollToOffset(now);
    }
  }

  #paint(): void {
    const { live, scroller } = this.#options;
    this.#layout();
    // Rows above the target of the focus may have become taller by the layout.
    const target = this.#pendingFocus?.index;
    if (target !== undefined && this.#idAt(target) !== undefined) this.viewport.reveal(target);
    const { geometry, offset, height, scrollTop } = this.viewport;
    const top = geometry.rowAt(offset);
    const bottom = geometry.rowAt(offset + height);
    this.#requestRows();

    const first = Math.max(0, top - OVERDRAW);
    const last = Math.min(geometry.count - 1, bottom + OVERDRAW);
    const shift = Math.round(offset - scrollTop);
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

    const pending = this.#pendingFocus;
    const id = pending === undefined ? undefined : this.#idAt(pending.index);
    if (pending !== undefined && id !== undefined) {
      this.#pendingFocus = undefined;
      pending.found(id);
    }
    if (live.state.loaded && live.state.order.length > 0) {
      this.#gridColumns.measureNew();
      if (!this.#isHovered && this.#scrollEnd === undefined)
        this.#gridColumns.grow(this.#painter.takeOutgrownColumns());
    }
  }

  /**
   * Subscribes to the rows around the view when the loaded ones do not cover it; limited in frequency while scrolling.
   */
  #requestRows(): void {
    if (this.#asking !== undefined || this.#wanted() === undefined) return;
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      const wanted = this.#wanted();
      if (wanted !== undefined) this.#options.live.changeQuery(wanted);
    }, ASK_MS);
  }

  #wanted(): Pick<Query, 'first' | 'count'> | undefined {
    const { live } = this.#options;
    if (!live.state.loaded) return undefined;
    const { geometry, offset, height, rowsInView } = this.viewport;
    const top = geometry.rowAt(offset);
    const last = Math.min(geometry.rowAt(offset + height), geometry.count - 1);
    return nextRowRange({ top, last, fitting: rowsInView, total: geometry.count }, live.query);
  }
}
