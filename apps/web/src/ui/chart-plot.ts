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
  /** The area down to zero is tinted. */
  readonly filled?: boolean;
  /** Drawn below the zero line; labels stay positive. */
  readonly below?: boolean;
  /** A value to compare with, e.g. a limit: the axis reaches for it only when the other lines come near. */
  readonly reference?: boolean;
}

interface PlotOptions {
  /** Unit of the values: `bps`, `p/s`, `B`, `%`. */
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Fixed top of the axis; grows with the data when absent. */
  readonly max: number | undefined;
  /** Longest time shown, ms; less while there are few samples. */
  readonly spanMs: number;
  /** Receives the values under the crosshair, or the newest ones: time first, then each line. */
  readonly readOut: (time: string, values: readonly string[]) => void;
}

/** Smallest top of an axis without a fixed one. */
const MIN_TOP: Readonly<Record<string, number>> = { bps: 1_000, 'p/s': 10, B: 1_024, s: 0.001 };
/** A reference counts for the axis up to this multiple of the highest value. */
const NEAR = 3;
/** Points per CSS pixel above which a line is thinned out. */
const DENSE = 2;

const clock = (seconds: number): string => timeOfDay(seconds * 1000);

/** The colour of a custom property as the canvas takes it. */
function colorOf(host: HTMLElement, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const tinted = (color: string) => color.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.14)');

/** Bottom and top of the axis for the values on screen, which are those from index `start` on. */
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

/** Steps between ticks of an axis of bytes: amounts of data are binary. */
const BYTE_STEPS: number[] = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** Pixels between the labels of an upright axis where there is room for them. */
const TICK_PX = 28;

/**
 * Least distance of ticks on an axis of `px` pixels, so that one of them is not zero: uPlot takes steps of 1, 2, 2.5, 5, 10 …,
 * and with them up to twice the distance that it is asked for.
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

  /** Shows what the window holds now. */
  draw(): void {
    const { times, columns } = this.#window;
    this.#span = spanOf(times, this.#options.spanMs);
    const most = Math.max(this.#plot.width, 1) * DENSE;
    const shown = times.length > most ? decimated(times, columns, most / 2) : { times, columns };
    // At once, not in a microtask after all that is drawn in this frame: the paint queue counts the time that it takes.
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
      // Room for the unit above the axis.
      // Half a time label reaches beyond the right end.
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

  /** The axis chooses its prefix while it is drawn; the unit follows it. */
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
