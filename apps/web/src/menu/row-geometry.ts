/**
 * Positions of rows in a list that is taller than the maximum height of a browser element. Rows have one line, plus
 * lines for a comment or a reason where these are known. Pure; all lengths in CSS px.
 */

/**
 * Maximum height of an element, px: somewhere above 16 million px Chromium and Firefox lose precision, and then rows.
 */
const MAX_HEIGHT = 8_000_000;

/** Sum of the extra lines of all rows up to and including one row. */
interface Sum {
  readonly index: number;
  readonly lines: number;
}

export class RowGeometry {
  #count = 0;
  #line = 24;
  /** Extra lines by row index, only for rows that have some. */
  readonly #extra = new Map<number, number>();
  /** Sums over {@link #extra} in order; undefined when they must be computed again. */
  #sums: readonly Sum[] | undefined = [];

  /** Sets the number of rows and the height of one line. */
  resize(count: number, line: number): void {
    this.#line = line;
    if (count < this.#count) for (const index of this.#extra.keys()) if (index >= count) this.setExtra(index, 0);
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  /** Sets how many lines a row has beyond the first. */
  setExtra(index: number, lines: number): void {
    if ((this.#extra.get(index) ?? 0) === lines) return;
    if (lines > 0) this.#extra.set(index, lines);
    else this.#extra.delete(index);
    this.#sums = undefined;
  }

  /** Clears extra lines, e.g. when other rows are shown. */
  clearExtra(): void {
    this.#extra.clear();
    this.#sums = [];
  }

  #extraBefore(index: number): number {
    if (this.#sums === undefined) {
      let lines = 0;
      this.#sums = [...this.#extra]
        .sort(([a], [b]) => a - b)
        .map(([at, extra]) => {
          lines += extra;
          return { index: at, lines };
        });
    }
    let low = 0;
    let high = this.#sums.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sums[middle]?.index ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return this.#sums[low - 1]?.lines ?? 0;
  }

  /** Top of a row in the full list. */
  top(index: number): number {
    return (index + this.#extraBefore(index)) * this.#line;
  }

  /** Height of a row. */
  height(index: number): number {
    return (1 + (this.#extra.get(index) ?? 0)) * this.#line;
  }

  /** Height of the full list. */
  get fullHeight(): number {
    return this.top(this.#count);
  }

  /** Height of the scrolling element. */
  get scrollableHeight(): number {
    return Math.min(this.fullHeight, MAX_HEIGHT);
  }

  /** Offset into the full list for a scroll position, in a viewport of the given height. */
  offsetOf(scrollTop: number, viewport: number): number {
    const range = this.scrollableHeight - viewport;
    if (this.fullHeight <= MAX_HEIGHT || range <= 0) return scrollTop;
    return (Math.min(scrollTop, range) * (this.fullHeight - viewport)) / range;
  }

  /** Scroll position at which an offset of the full list is at the top. */
  scrollFor(offset: number, viewport: number): number {
    if (this.fullHeight <= MAX_HEIGHT) return offset;
    return (offset * (this.scrollableHeight - viewport)) / (this.fullHeight - viewport);
  }

  /** The row at an offset of the full list, limited to 0 … count - 1. */
  rowAt(offset: number): number {
    let low = 0;
    let high = Math.max(this.#count - 1, 0);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
