/**
 * Numbers with units for graphs and read-outs, as in tables: rates have decimal prefixes (k = 1000), amounts of data
 * binary ones (KiB = 1024 B).
 */
import { displayBytes, displayRate, thousands } from '@tollway/schema';

interface Scale {
  readonly divisor: number;
  /** `k`, `M`, `G`, `Ki`, `Mi` or nothing. */
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

const BINARY: readonly Scale[] = ['', 'Ki', 'Mi', 'Gi', 'Ti'].map((prefix, step) => ({
  divisor: 1024 ** step,
  prefix,
}));

/**
 * The prefix with which `max` has one to three digits before the decimal point. Only seconds also get prefixes below 1.
 */
export function scaleFor(max: number, unit?: string): Scale {
  const size = Math.abs(max);
  const least = unit === 's' && size > 0 ? 0 : 1;
  const scales = unit === 'B' ? BINARY : SCALES;
  return scales.findLast((scale) => size >= scale.divisor && scale.divisor >= least) ?? { divisor: 1, prefix: '' };
}

/**
 * `value` for people: `12.3 Mbps` and `4.5 KiB` with one decimal, truncated, and packets as a whole number, as in
 * tables; units that tables do not have with three significant digits.
 */
export function withUnit(value: number, unit: string): string {
  if (value >= 0 && unit === 'bps') return displayRate(String(Math.round(value)));
  if (value >= 0 && unit === 'B') return displayBytes(String(Math.round(value)));
  if (value >= 0 && (unit === 'p/s' || unit === 'packets')) return packetsText(value, unit);
  const { divisor, prefix } = scaleFor(value, unit);
  const scaled = Math.abs(value) / divisor;
  const digits = divisor === 1 && Number.isInteger(scaled) ? 0 : scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  const sign = value < 0 ? '-' : '';
  return unit === '%' ? `${sign}${scaled.toFixed(1)}%` : `${sign}${scaled.toFixed(digits)} ${prefix}${unit}`;
}

/** `996 885 p/s`; a rate below one per second must not be shown as zero. */
function packetsText(value: number, unit: string): string {
  const count = value > 0 && value < 1 ? value.toFixed(1) : thousands(String(Math.round(value)));
  return `${count} ${unit === 'packets' && count === '1' ? 'packet' : unit}`;
}

/** Numbers along an axis, all with the same prefix, with as many decimals as are needed to distinguish the ticks. */
export function axisLabels(ticks: readonly number[], scale: Scale): string[] {
  const scaled = ticks.map((tick) => Math.abs(tick) / scale.divisor);
  const exact = (decimals: number) => scaled.every((value) => Math.abs(value - Number(value.toFixed(decimals))) < 1e-6);
  const decimals = [0, 1, 2].find(exact) ?? 3;
  return scaled.map((value) => value.toFixed(decimals));
}

/** Lengths of time axes, s, the shortest first. */
const SPANS_S: readonly number[] = [60, 90, 120, 180, 240, 300];

/**
 * The shortest time axis, s, that shows all stored samples, at most `mostMs`. `times` in s. An outage is shown as a
 * gap, as the samples before it are of interest afterwards. After hours of sleep no earlier samples are stored.
 */
export function spanOf(times: readonly number[], mostMs: number): number {
  const most = mostMs / 1000;
  const heldS = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return Math.min(most, SPANS_S.find((span) => span >= heldS) ?? most);
}
