/** Draws bins as bars, or a level as an area, with lines to compare with. The newest value is at the right edge. */
import { axisLabels, scaleFor, withUnit } from '../../../ui/units.ts';

/** A horizontal line to compare with. */
export interface Mark {
  readonly label: string;
  readonly value: number;
  /** Custom property that holds the colour. */
  readonly color: string;
  readonly dashed?: boolean;
}

export interface BinPlotData {
  /** Oldest first; null for unknown values. */
  readonly values: readonly (number | null)[];
  readonly unit: string;
  /** Custom property that holds the colour. */
  readonly color: string;
  readonly shape: 'bars' | 'area';
  readonly marks: readonly Mark[];
  /** Length of the whole plot, ms. */
  readonly spanMs: number;
}

const LEFT = 52;
const RIGHT = 8;
const TOP = 16;
const BOTTOM = 18;
/** The axis includes a line to compare with up to this multiple of the highest value. */
const NEAR = 3;

/** Lower and upper end of the axis: it includes the values, the lowest mark, and the other marks that are near them. */
export function axisOf({ values, marks }: BinPlotData): readonly [number, number] {
  let [low, high] = [0, 0];
  for (const value of values) {
    if (value === null) continue;
    if (value > high) high = value;
    else if (value < low) low = value;
  }
  const lowest = Math.min(...marks.map(({ value }) => value));
  if (Number.isFinite(lowest)) high = Math.max(high, lowest);
  const near = high * NEAR;
  for (const { value } of marks) if (value <= near) high = Math.max(high, value);
  return [low * 1.05, (high || 1) * 1.1];
}

/** Round steps of an axis. */
export function ticksOf(low: number, high: number, most: number): readonly number[] {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(tick);
  return ticks;
}

/** `0.4 s ago`, `12 ms ago`. */
export function agoText(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(ms >= 10_000 ? 0 : 1)} s` : `${Math.round(ms)} ms`;
}

/** Index of the value at the x coordinate of a plot of width `width`; undefined outside of the plot. */
export function valueAt(x: number, width: number, count: number): number | undefined {
  const at = Math.floor(((x - LEFT) / (width - LEFT - RIGHT)) * count);
  return at >= 0 && at < count ? at : undefined;
}

/** Paints on a canvas of CSS size `width` × `height`. `colorOf` returns the colour of a custom property. */
export function paintBins(
  context: CanvasRenderingContext2D,
  data: BinPlotData,
  { width, height }: { readonly width: number; readonly height: number },
  colorOf: (property: string) => string,
): void {
  context.clearRect(0, 0, width, height);
  const [low, high] = axisOf(data);
  const inner = { width: width - LEFT - RIGHT, height: height - TOP - BOTTOM };
  const y = (value: number) => TOP + inner.height * (1 - (value - low) / (high - low));
  const x = (index: number) => LEFT + (inner.width * index) / data.values.length;
  paintAxes(context, data, { width, height, low, high, y, colorOf });
  context.save();
  context.beginPath();
  context.rect(LEFT, TOP, inner.width, inner.height + 1);
  context.clip();
  context.fillStyle = colorOf(data.color);
  context.strokeStyle = colorOf(data.color);
  if (data.shape === 'bars') paintBars(context, data.values, x, y);
  else paintArea(context, data.values, x, y);
  context.restore();
  paintMarks(context, data, { width, high, y, colorOf });
}

type Scale = (value: number) => number;

function paintBars(context: CanvasRenderingContext2D, values: BinPlotData['values'], x: Scale, y: Scale): void {
  const zero = y(0);
  const gap = x(1) - x(0) > 6 ? 1 : 0;
  for (const [index, value] of values.entries()) {
    if (value === null || value === 0) continue;
    const from = x(index);
    context.fillRect(from, y(value), Math.max(1, x(index + 1) - from - gap), Math.max(1, zero - y(value)));
  }
}

function paintArea(context: CanvasRenderingContext2D, values: BinPlotData['values'], x: Scale, y: Scale): void {
  let from: number | undefined;
  const line = new Path2D();
  const area = new Path2D();
  for (let index = 0; index <= values.length; index++) {
    const value = values[index] ?? null;
    if (value === null) {
      if (from !== undefined) area.lineTo(x(index), y(0));
      from = undefined;
      continue;
    }
    if (from === undefined) {
      line.moveTo(x(index), y(value));
      area.moveTo(x(index), y(0));
      from = index;
    }
    for (const path of [line, area]) {
      path.lineTo(x(index), y(value));
      path.lineTo(x(index + 1), y(value));
    }
  }
  context.globalAlpha = 0.18;
  context.fill(area);
  context.globalAlpha = 1;
  context.lineWidth = 1.25;
  context.stroke(line);
}

interface Axes {
  readonly width: number;
  readonly height: number;
  readonly low: number;
  readonly high: number;
  readonly y: Scale;
  readonly colorOf: (property: string) => string;
}

function paintAxes(context: CanvasRenderingContext2D, data: BinPlotData, axes: Axes): void {
  const { width, height, low, high, y, colorOf } = axes;
  const ticks = ticksOf(low, high, Math.max(2, (height - TOP - BOTTOM) / 28));
  const scale = scaleFor(Math.max(...ticks.map(Math.abs), 1));
  const labels = axisLabels(ticks, scale);
  context.font = `12px ${getComputedStyle(context.canvas).fontFamily}`;
  context.fillStyle = colorOf('--text-2');
  context.strokeStyle = colorOf('--line');
  context.lineWidth = 1;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const [index, tick] of ticks.entries()) {
    const at = Math.round(y(tick)) + 0.5;
    context.beginPath();
    context.moveTo(LEFT, at);
    context.lineTo(width - RIGHT, at);
    context.stroke();
    context.fillText(`${tick < 0 ? '−' : ''}${labels[index] ?? ''}`, LEFT - 6, at);
  }
  context.textAlign = 'left';
  context.fillText(`${scale.prefix}${data.unit}`, LEFT, 7);
  const base = height - BOTTOM / 2 + 1;
  const [whole, half] = [`${agoText(data.spanMs)} ago`, `${agoText(data.spanMs / 2)} ago`];
  context.fillText(whole, LEFT, base);
  const middle = (width - LEFT - RIGHT) / 2;
  if (context.measureText(whole).width + context.measureText(half).width / 2 + 8 < middle) {
    context.textAlign = 'center';
    context.fillText(half, LEFT + middle, base);
  }
  context.textAlign = 'right';
  context.fillText('now', width - RIGHT, base);
}

/** Distance of two lines below which their labels are on either side, px. */
const LABEL_PX = 15;

function paintMarks(
  context: CanvasRenderingContext2D,
  { marks, unit }: BinPlotData,
  { width, high, y, colorOf }: Pick<Axes, 'width' | 'high' | 'y' | 'colorOf'>,
): void {
  context.lineWidth = 1.5;
  context.textAlign = 'right';
  for (const { label, value, color, dashed } of marks) {
    context.strokeStyle = colorOf(color);
    context.fillStyle = colorOf(color);
    if (value > high) {
      context.textBaseline = 'middle';
      context.fillText(`${label}: ${withUnit(value, unit)} ↑`, width - RIGHT, 7);
      continue;
    }
    const at = Math.round(y(value)) + 0.5;
    context.setLineDash(dashed === true ? [5, 3] : []);
    context.beginPath();
    context.moveTo(LEFT, at);
    context.lineTo(width - RIGHT, at);
    context.stroke();
    context.setLineDash([]);
    const crowded = marks.some((other) => other.value > value && at - y(other.value) < LABEL_PX);
    paintLabel(context, label, width - RIGHT - 2, crowded ? at + 8 : at - 7, colorOf);
  }
}

/** A text that is readable on top of bars. */
function paintLabel(
  context: CanvasRenderingContext2D,
  text: string,
  right: number,
  middle: number,
  colorOf: (property: string) => string,
): void {
  const { fillStyle } = context;
  const { width } = context.measureText(text);
  context.globalAlpha = 0.8;
  context.fillStyle = colorOf('--surface');
  context.fillRect(right - width - 3, middle - 6, width + 5, 12);
  context.globalAlpha = 1;
  context.fillStyle = fillStyle;
  context.textBaseline = 'middle';
  context.fillText(text, right, middle);
}
