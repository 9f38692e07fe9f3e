/** Numbers with units, for graphs and read-outs. Rates are decimal (k = 1000). */

export interface Scale {
  readonly divisor: number;
  /** `k`, `M`, `G` or nothing. */
  readonly prefix: string;
}

const SCALES: readonly Scale[] = [
  { divisor: 1e-6, prefix: 'µ' },
  { divisor: 1e-3, prefix: 'm' },
  { divisor: 1, prefix: '' },
  { divisor: 1e3, prefix: 'k' },
  { divisor: 1e6, prefix: 'M' },
  { divisor: 1e9, prefix: 'G' },
  { divisor: 1e12, prefix: 'T' },
];

/** The prefix under which `max` has one to three digits before the point. Only seconds are divided. */
export function scaleFor(max: number, unit?: string): Scale {
  const size = Math.abs(max);
  const least = unit === 's' && size > 0 ? 0 : 1;
  return SCALES.findLast((scale) => size >= scale.divisor && scale.divisor >= least) ?? { divisor: 1, prefix: '' };
}

/** `value` for people: `12.3 Mbit/s`. Three significant digits. */
export function withUnit(value: number, unit: string): string {
  const { divisor, prefix } = scaleFor(value, unit);
  const scaled = Math.abs(value) / divisor;
  const digits = divisor === 1 && Number.isInteger(scaled) ? 0 : scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  const sign = value < 0 ? '-' : '';
  return unit === '%' ? `${sign}${scaled.toFixed(1)} %` : `${sign}${scaled.toFixed(digits)} ${prefix}${unit}`;
}

/** Numbers along an axis, all under one prefix, with as many decimals as say where the ticks are. */
export function axisLabels(ticks: readonly number[], scale: Scale): string[] {
  const scaled = ticks.map((tick) => Math.abs(tick) / scale.divisor);
  const exact = (decimals: number) => scaled.every((value) => Math.abs(value - Number(value.toFixed(decimals))) < 1e-6);
  const decimals = [0, 1, 2].find(exact) ?? 3;
  return scaled.map((value) => value.toFixed(decimals));
}

/** Time axes in seconds, the shortest first. */
const SPANS_S: readonly number[] = [60, 90, 120, 180, 240, 300];

/** Without samples for this long, what came before is another story, s. */
const PAUSE_S = 30;

/** The shortest time axis, s, that shows all samples since the last long pause, and at most `mostMs`. `times` in s. */
export function spanOf(times: readonly number[], mostMs: number): number {
  const most = mostMs / 1000;
  const start = times.findLastIndex((time, at) => time - (times[at - 1] ?? Number.NEGATIVE_INFINITY) > PAUSE_S);
  const heldS = (times.at(-1) ?? 0) - (times[start] ?? 0);
  return Math.min(most, SPANS_S.find((span) => span >= heldS) ?? most);
}
