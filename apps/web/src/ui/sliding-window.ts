/** Values of the last minutes for a graph: appended at the end, removed at the start. Pure. */

/** Times (ms since 1970, ascending) and one list of values for each line. */
export interface Points {
  readonly times: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
}

/** Time between two samples above which a gap is shown, ms. */
const GAP_MS = 3_000;

type Column = (number | null)[];

/** A time window that ends at the newest point. Its arrays remain the same objects; only their content changes. */
export class SlidingWindow {
  /** Times of the samples, seconds since 1970. */
  readonly times: number[] = [];
  readonly columns: readonly Column[];
  readonly #spanS: number;

  constructor(columns: number, spanMs: number) {
    this.columns = Array.from({ length: columns }, () => []);
    this.#spanS = spanMs / 1000;
  }

  /** Time of the newest point, ms; negative infinity while there is none. */
  get newestMs(): number {
    const last = this.times.at(-1);
    return last === undefined ? Number.NEGATIVE_INFINITY : last * 1000;
  }

  /**
   * Appends points that are newer than the stored ones. A time without samples becomes a gap in the lines. If the new
   * points end before the stored ones, the clock was set back, and the new points replace them.
   */
  append({ times, values }: Points): void {
    const last = times.at(-1);
    if (last !== undefined && last < this.newestMs) this.#clear();
    for (const [index, time] of times.entries()) {
      const before = this.newestMs;
      if (time <= before) continue;
      if (time - before > GAP_MS && this.times.length > 0) this.#push(before + 1, undefined);
      this.#push(time, (which) => values[which]?.[index] ?? null);
    }
    this.#forget();
  }

  #clear(): void {
    this.times.length = 0;
    for (const column of this.columns) column.length = 0;
  }

  #push(timeMs: number, value: ((which: number) => number | null) | undefined): void {
    this.times.push(timeMs / 1000);
    for (const [which, column] of this.columns.entries()) column.push(value?.(which) ?? null);
  }

  #forget(): void {
    const oldest = (this.times.at(-1) ?? 0) - this.#spanS;
    const keep = this.times.findIndex((time) => time >= oldest);
    if (keep <= 0) return;
    this.times.splice(0, keep);
    for (const column of this.columns) column.splice(0, keep);
  }
}

/**
 * Reduces points to the resolution of the screen: of each of `buckets` equal parts of the time, the points where a line
 * is lowest and highest, so that peaks are kept. Gaps are kept, too.
 */
export function decimated(
  times: readonly number[],
  columns: readonly (readonly (number | null)[])[],
  buckets: number,
): { times: number[]; columns: (number | null)[][] } {
  const from = times[0] ?? 0;
  const width = ((times.at(-1) ?? 0) - from) / Math.max(1, buckets) || 1;
  const kept = new Set<number>();
  const lines = columns.length;
  for (let start = 0; start < times.length; ) {
    const bucket = Math.floor(((times[start] ?? 0) - from) / width);
    let end = start;
    while (end < times.length && Math.floor(((times[end] ?? 0) - from) / width) === bucket) end++;
    for (let which = 0; which < lines; which++) {
      const column = columns[which] ?? [];
      let low: number | undefined;
      let high: number | undefined;
      let hole: number | undefined;
      for (let at = start; at < end; at++) {
        const value = column[at];
        if (value === null || value === undefined) {
          hole ??= at;
          continue;
        }
        if (low === undefined || value < (column[low] ?? 0)) low = at;
        if (high === undefined || value > (column[high] ?? 0)) high = at;
      }
      if (hole !== undefined) kept.add(hole);
      if (low !== undefined) kept.add(low);
      if (high !== undefined) kept.add(high);
    }
    start = end;
  }
  const order = [...kept].sort((a, b) => a - b);
  return {
    times: order.map((at) => times[at] ?? 0),
    columns: columns.map((column) => order.map((at) => column[at] ?? null)),
  };
}
