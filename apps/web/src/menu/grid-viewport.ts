/** The scrolled area of a grid: which part of the list is in view, and where its rows are on the screen. */
import { RowGeometry } from './row-geometry.ts';

/** Sizes from the layout, px. They are read only after changes, as reading them while painting would force a layout. */
interface Measures {
  /** Height of a row without extra lines. */
  readonly line: number;
  /** Height of the header. */
  readonly head: number;
  /** Height of the space for rows. */
  readonly height: number;
  readonly width: number;
}

export class GridViewport {
  readonly geometry = new RowGeometry();
  readonly #scroller: HTMLElement;
  readonly #body: HTMLElement;
  #measures: Measures = { line: 24, head: 24, height: 0, width: 0 };
  #scrollTop = 0;
  #isAtEnd = true;

  /** @param body the element below the header, as high as the list can be scrolled */
  constructor(scroller: HTMLElement, body: HTMLElement) {
    this.#scroller = scroller;
    this.#body = body;
  }

  /** Scroll position of the element, px; in very long lists it differs from that of the list, see {@link offset}. */
  get scrollTop(): number {
    return this.#scrollTop;
  }

  /** Y in the list of the upper edge of the view, px. */
  get offset(): number {
    return this.geometry.offsetOf(this.#scrollTop, this.#measures.height);
  }

  /** Height of the view without the header, px. */
  get height(): number {
    return this.#measures.height;
  }

  get width(): number {
    return this.#measures.width;
  }

  /** Height of a row without extra lines, px. */
  get line(): number {
    return this.#measures.line;
  }

  /** Whether the end of the list was in view when the list was last scrolled or measured. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  get rowsInView(): number {
    return Math.max(1, Math.floor(this.#measures.height / this.#measures.line));
  }

  /**
   * Reads the sizes; must be called when they may have changed. False on a hidden tab, where the last sizes remain
   * valid.
   */
  measure(): boolean {
    const scroller = this.#scroller;
    if (scroller.clientHeight === 0) return false;
    const line = Number.parseFloat(getComputedStyle(scroller).getPropertyValue('--row'));
    const head = scroller.firstElementChild instanceof HTMLElement ? scroller.firstElementChild.offsetHeight : 0;
    this.#measures = {
      line: Number.isFinite(line) && line > 0 ? line : 24,
      head,
      height: Math.max(scroller.clientHeight - head, 0),
      width: scroller.clientWidth,
    };
    this.#scrollTop = scroller.scrollTop;
    // When the view at the end grows, the browser scrolls it before its new size is known here.
    this.#isAtEnd ||= this.#reachesEnd();
    return true;
  }

  /** Must be called for each `scroll` event. */
  scrolled(): void {
    this.#scrollTop = this.#scroller.scrollTop;
    this.#isAtEnd = this.#reachesEnd();
  }

  #reachesEnd(): boolean {
    return this.#scrollTop + this.#measures.height >= this.geometry.scrollableHeight - 4;
  }

  scrollTo(scrollTop: number): void {
    this.#scroller.scrollTop = scrollTop;
    this.#scrollTop = this.#scroller.scrollTop;
  }

  /** Scrolls so that the view begins at a y coordinate of the list. */
  scrollToOffset(y: number): void {
    this.scrollTo(this.geometry.scrollFor(y, this.#measures.height));
  }

  /** Scrolls as little as brings a row into view. */
  reveal(index: number): void {
    const { height } = this.#measures;
    const top = this.geometry.top(index);
    const bottom = top + this.geometry.height(index);
    if (top < this.offset) this.scrollToOffset(top);
    else if (bottom > this.offset + height) this.scrollToOffset(bottom - height);
  }

  /** A point of the page on a row, for a menu that is opened by key; within the view if the row is outside. */
  pointOf(index: number): { x: number; y: number } {
    const { left, top, bottom } = this.#scroller.getBoundingClientRect();
    const { head, line } = this.#measures;
    const y = top + head + this.geometry.top(index) - this.offset + line;
    return { x: left + 48, y: Math.min(Math.max(y, top + head), bottom) };
  }

  /**
   * The gap between rows that is nearest to a point on the screen, and its y coordinate in the body.
   *
   * @param least the first gap to consider
   */
  gapAt(clientY: number, least: number): { gap: number; y: number } {
    const y = clientY - this.#body.getBoundingClientRect().top;
    const shift = this.#shift();
    const index = this.geometry.rowAt(Math.max(0, y + shift));
    const top = this.geometry.top(index);
    const height = this.geometry.height(index);
    const gap = Math.max(least, y + shift > top + height / 2 ? index + 1 : index);
    return { gap, y: this.geometry.top(gap) - shift };
  }

  /**
   * The row at a point on the screen, the relative position of the point in the row (0 at its top, 1 at its bottom),
   * and the row's y coordinate and height in the body. Below the last row there is no index.
   */
  rowAtPoint(clientY: number): { index: number | undefined; share: number; y: number; height: number } {
    const { geometry } = this;
    const shift = this.#shift();
    const offset = clientY - this.#body.getBoundingClientRect().top + shift;
    if (offset >= geometry.fullHeight) return { index: undefined, share: 0, y: geometry.fullHeight - shift, height: 0 };
    const index = geometry.rowAt(Math.max(0, offset));
    const [top, height] = [geometry.top(index), geometry.height(index)];
    return { index, share: (offset - top) / height, y: top - shift, height };
  }

  /** Scrolls by a step when a point on the screen is at the upper or lower edge of the list; false when it is not. */
  scrollTowards(clientY: number): boolean {
    const { top, bottom } = this.#scroller.getBoundingClientRect();
    const { line, head } = this.#measures;
    const above = top + head + line - clientY;
    const below = clientY - (bottom - line);
    if (above <= 0 && below <= 0) return false;
    const before = this.#scroller.scrollTop;
    const step = Math.min(line, Math.max(above, below) / 2 + 1);
    this.scrollTo(before + (above > 0 ? -step : step));
    return this.#scrollTop !== before;
  }

  /** Difference between a y of the list and a y of the body. */
  #shift(): number {
    return this.offset - this.#scrollTop;
  }
}
