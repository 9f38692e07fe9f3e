/** The plot inside a chart: uPlot set up for sliding lines, fed from a {@link SlidingWindow}. */

import uPlot from 'uplot';
import { timeOfDay } from './router-clock.ts';
import { decimated, type SlidingWindow } from './sliding-window.ts';
import { axisLabels, scaleFor, spanOf, withUnit } from './units.ts';

export interface Line {
  readonly label: string;
  /** Custom property that holds the colour, e.g. `--tx`. */
  readonly color: string;
  readonly dashed?: boolean;
  /** Whether the area between the line and zero is tinted. */
  readonly filled?: boolean;
  /** Whether the line is drawn below the zero line; labels remain positive. */
  readonly below?: boolean;
  /**
   * Whether the line is a value to compare with, e.g. a limit: the axis includes it only when other lines come near.
   */
  readonly reference?: boolean;
}

interface PlotOptions {
  /** Unit of the values: `bps`, `p/s`, `B`, `%`. */
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Fixed upper end of the axis; by default it depends on the data. */
  readonly max: number | undefined;
  /** Maximum time span, ms; shorter while there are few samples. */
  readonly spanMs: number;
  /** Receives the values under the crosshair, or the newest ones: first the time, then each line. */
  readonly readOut: (time: string, values: readonly string[]) => void;
}

/** Minimum upper end of an axis that depends on the data. */
const MIN_TOP: Readonly<Record<string, number>> = { bps: 1_000, 'p/s': 10, B: 1_024, s: 0.001 };
/** The axis includes a reference up to this multiple of the highest value. */
const NEAR = 3;
/** Number of points per CSS pixel above which a line is thinned out. */
const DENSE = 2;

const clock = (seconds: number): string => timeOfDay(seconds * 1000);

/** The colour of a custom property in the format of the canvas. */
function colorOf(host: HTMLElement, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const tinted = (color: string) => color.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.14)');

/** Lower and upper end of the axis for the visible values, which begin at index `start`. */
export function rangeOf(
  lines: readonly Line[],
  columns: readonly (readonly (number | null)[])[],
  unit: string,
  start = 0,
): readonly [number, number] {
  const least = MIN_TOP[unit] ?? 1;
  let top = least;
  let bottom = lines.some((line) => line.below === true) ? -least : 0;
  const references: number[] = [];
  for (const [which, line] of lines.entries()) {
    const column = columns[which] ?? [];
    for (let at = start; at < column.length; at++) {
      const value = column[at];
      if (value === null || value === undefined) continue;
      if (line.reference === true) references.push(value);
      else if (value > top) top = value;
      else if (value < bottom) bottom = value;
    }
  }
  const near = Math.max(top, -bottom) * NEAR;
  for (const value of references) {
    if (value > top && value <= near) top = value;
    else if (value < bottom && -value <= near) bottom = value;
  }
  return [bottom * 1.08, top * 1.08];
}

/** Steps between ticks of an axis of bytes: amounts of data have binary prefixes. */
const BYTE_STEPS: number[] = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** Distance between the labels of a vertical axis where there is space, px. */
const TICK_PX = 28;

/**
 * Minimum distance of ticks on an axis of `px` pixels, at which at least one tick is not zero. uPlot takes steps of 1,
 * 2, 2.5, 5, 10 …, so that the actual distance may be twice the requested one.
 */
export function tickSpace(from: number, to: number, px: number): number {
  const reach = Math.max(Math.abs(from), Math.abs(to));
  return from < to ? Math.min(TICK_PX, (px * reach) / (to - from) / 2) : TICK_PX;
}

export class ChartPlot {
  readonly #host: HTMLElement;
  readonly #options: PlotOptions;
  readonly #window: SlidingWindow;
  readonly #plot: uPlot;
  readonly #unitLabel = document.createElement('span');
  #prefix = '';
  #span: number;

  constructor(host: HTMLElement, options: PlotOptions, window: SlidingWindow) {
    this.#host = host;
    this.#options = options;
    this.#window = window;
    this.#span = options.spanMs / 1000;
    this.#unitLabel.className = 'chart-unit';
    this.#plot = new uPlot(this.#setUp(), [[], ...options.lines.map(() => [])], host);
    host.append(this.#unitLabel);
  }

  /** Draws the present content of the window. */
  draw(): void {
    const { times, columns } = this.#window;
    this.#span = spanOf(times, this.#options.spanMs);
    const most = Math.max(this.#plot.width, 1) * DENSE;
    const shown = times.length > most ? decimated(times, columns, most / 2) : { times, columns };
    // Synchronously instead of in a microtask after everything else in this frame, as the paint queue measures the
    // time.
    this.#plot.batch(() => this.#plot.setData([shown.times, ...shown.columns] as uPlot.AlignedData));
    this.#readOut();
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    if (width === 0 || height === 0 || (width === this.#plot.width && height === this.#plot.height)) return;
    this.#plot.batch(() => this.#plot.setSize({ width, height }));
  }

  destroy(): void {
    this.#plot.destroy();
    this.#unitLabel.remove();
  }

  #setUp(): uPlot.Options {
    const host = this.#host;
    const { lines, max } = this.#options;
    const stroke = colorOf(host, '--text-2');
    const faint = colorOf(host, '--line');
    const font = `12px ${getComputedStyle(host).fontFamily}`;
    const axis = { font, stroke, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1, size: 4 } };
    return {
      width: Math.max(host.clientWidth, 120),
      height: Math.max(host.clientHeight, 60),
      // Space for the unit above the axis, and for half a time label beyond the right end.
      padding: [16, 28, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        x: { time: true, range: (_plot, _from, to) => [to - this.#span, to] },
        y: {
          range: (plot) => (max === undefined ? this.#range(plot) : [0, max]),
        },
      },
      axes: [
        { ...axis, space: 90, size: 26, values: (_plot, ticks) => ticks.map(clock) },
        {
          ...axis,
          space: (_plot, _axis, from, to, px) => tickSpace(from, to, px),
          size: 48,
          ...(this.#options.unit === 'B' && { incrs: BYTE_STEPS }),
          values: (_plot, ticks) => this.#labels(ticks),
        },
      ],
      series: [
        {},
        ...lines.map((line) => {
          const color = colorOf(host, line.color);
          return {
            label: line.label,
            stroke: color,
            width: line.reference === true ? 1 : 1.5,
            points: { show: false },
            spanGaps: false,
            ...(line.dashed === true && { dash: [5, 3] }),
            ...(line.filled === true && { fill: tinted(color) }),
          };
        }),
      ],
      hooks: { setCursor: [() => this.#readOut()], draw: [() => this.#writeUnit()] },
    };
  }

  #range(plot: uPlot): [number, number] {
    const [times, ...columns] = plot.data;
    const from = (times.at(-1) ?? 0) - this.#span;
    const start = Math.max(
      0,
      times.findIndex((time) => time >= from),
    );
    const [bottom, top] = rangeOf(this.#options.lines, columns as (number | null)[][], this.#options.unit, start);
    return [bottom, top];
  }

  #labels(ticks: readonly number[]): string[] {
    const scale =
      this.#options.unit === '%'
        ? { divisor: 1, prefix: '' }
        : scaleFor(Math.max(...ticks.map(Math.abs)), this.#options.unit);
    this.#prefix = scale.prefix;
    return axisLabels(ticks, scale);
  }

  /** The axis chooses its prefix while it is drawn; the unit is written accordingly. */
  #writeUnit(): void {
    const text = `${this.#prefix}${this.#options.unit}`;
    if (this.#unitLabel.textContent !== text) this.#unitLabel.textContent = text;
  }

  #readOut(): void {
    // Called once from the constructor of the plot, before it is assigned.
    const plot: uPlot | undefined = this.#plot;
    if (plot === undefined) return;
    const at = plot.cursor.idx;
    const index = at ?? plot.data[0].length - 1;
    const seconds = at === null || at === undefined ? undefined : plot.data[0][at];
    this.#options.readOut(
      seconds === undefined ? '' : clock(seconds),
      this.#options.lines.map((_, which) => {
        const value = plot.data[which + 1]?.[index];
        return typeof value === 'number' ? withUnit(Math.abs(value), this.#options.unit) : '–';
      }),
    );
  }
}
