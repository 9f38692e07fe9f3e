// @ts-check
/** Curves: ns per packet depending on one variable, measured by `tollway-bench curve`, and their plot. */
import { runAsync } from './background.mjs';

/** @typedef {{ name: string, points: [number, number][] }} Curve */
/** @typedef {{ axis: string, curves: Curve[] }} Plot */

/** Labels of the axes, by variable. @type {Readonly<Record<string, string>>} */
const AXES = {
  rules: 'filter rules',
  routes: 'routes',
  flows: 'flows, in random order',
  'frame-bytes': 'frame size, bytes',
  workers: 'workers',
};

/**
 * @param {string} bench path of the program
 * @param {{ quick: boolean, note: (line: string) => void }} options
 * @returns {Promise<Plot[]>}
 */
export async function measureCurves(bench, { quick, note }) {
  const plots = [];
  for (const axis of Object.keys(AXES)) {
    note(`• measuring against ${AXES[axis]}`);
    plots.push(JSON.parse(await runAsync([bench, 'curve', '--axis', axis, '--quick', String(quick)])));
  }
  return plots;
}

/** A table for the terminal. @param {readonly Plot[]} plots */
export function formatCurves(plots) {
  const line = (/** @type {Curve} */ { name, points }) =>
    `  ${name}: ${points.map(([x, ns]) => `${x} → ${ns.toFixed(1)}`).join(', ')}`;
  return plots
    .map(({ axis, curves }) => [`ns a packet against ${AXES[axis]}`, ...curves.map(line)].join('\n'))
    .join('\n');
}

const WIDTH = 380;
const HEIGHT = 250;
const LEFT = 44;
const RIGHT = 14;
const TOP = 52;
const BOTTOM = 40;
const COLORS = ['#1f6feb', '#c4432b', '#2a7f3f'];

/**
 * The plots beside each other, as SVG.
 * @param {readonly Plot[]} plots
 */
export function drawCurves(plots) {
  const columns = 2;
  const rows = Math.ceil(plots.length / columns);
  const panels = plots.map((plot, index) => {
    const at = `translate(${(index % columns) * WIDTH} ${Math.floor(index / columns) * HEIGHT})`;
    return `<g transform="${at}">${drawPanel(plot)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${columns * WIDTH} ${rows * HEIGHT}"`,
    ` font-family="system-ui, sans-serif" font-size="11" fill="#333">`,
    `<rect width="100%" height="100%" fill="#fff"/>${panels.join('')}</svg>\n`,
  ].join('');
}

/** @param {Plot} plot */
function drawPanel({ axis, curves }) {
  const points = curves.flatMap((curve) => curve.points);
  const xs = points.map(([x]) => x);
  const top = niceTop(Math.max(...points.map(([, ns]) => ns)));
  const [low, high] = [Math.log(Math.min(...xs)), Math.log(Math.max(...xs))];
  const x = (/** @type {number} */ value) =>
    LEFT + ((Math.log(value) - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const parts = [`<text x="${LEFT}" y="16" font-weight="600">ns a packet against ${AXES[axis]}</text>`];
  for (let step = 0; step <= 4; step += 1) {
    const value = (top * step) / 4;
    const at = y(value).toFixed(1);
    parts.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#e3e3e3"/>`);
    parts.push(`<text x="${LEFT - 6}" y="${at}" dy="4" text-anchor="end">${Number(value.toFixed(1))}</text>`);
  }
  let last = Number.NEGATIVE_INFINITY;
  for (const value of [...new Set(xs)].sort((a, b) => a - b)) {
    const at = x(value);
    if (at - last < 34) continue;
    last = at;
    parts.push(`<text x="${at.toFixed(1)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${short(value)}</text>`);
  }
  curves.forEach(({ name, points: line }, index) => {
    const color = COLORS[index % COLORS.length];
    const path = line.map(([at, ns]) => `${x(at).toFixed(1)},${y(ns).toFixed(1)}`).join(' ');
    parts.push(`<polyline points="${path}" fill="none" stroke="${color}" stroke-width="1.8"/>`);
    for (const [at, ns] of line) {
      parts.push(`<circle cx="${x(at).toFixed(1)}" cy="${y(ns).toFixed(1)}" r="2.4" fill="${color}"/>`);
    }
    parts.push(`<text x="${LEFT}" y="${31 + 13 * index}" fill="${color}">${name}</text>`);
  });
  return parts.join('');
}

/** The smallest of 1, 2, 4, 5, 8 times a power of ten that is not below a value. @param {number} value */
export function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** @param {number} value */
export function short(value) {
  if (value >= 1 << 20 && value % (1 << 20) === 0) return `${value >> 20}Mi`;
  if (value >= 16_384 && value % 1024 === 0) return `${value >> 10}Ki`;
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(1))}M`;
  return value >= 1e4 ? `${Number((value / 1e3).toFixed(1))}k` : String(value);
}
