// @ts-check
/** Output of the bench for people. */

/**
 * `ratio` is ours to baseline, above 1 when ours is better; `io` the backend; `details` lines for people.
 * @typedef {{ name: string, unit: string, ours: number, baseline: number, ratio: number, io: string, details: string[] }} Result
 */

/** @param {number} value */
function figure(value) {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k`;
  return value.toFixed(2);
}

/** One line per case. @param {readonly Result[]} results */
export function formatTable(results) {
  const rows = results.map(({ name, unit, ours, baseline, ratio, io }) => {
    return [name, unit, figure(ours), figure(baseline), ratio.toFixed(2), io];
  });
  const table = [['case', 'unit', 'ours', 'baseline', 'ratio', 'io'], ...rows];
  const width = (/** @type {number} */ column) => Math.max(...table.map((row) => row[column]?.length ?? 0));
  const line = (/** @type {string[]} */ row) =>
    row
      .map((cell, column) => cell.padEnd(width(column)))
      .join('  ')
      .trimEnd();
  return `${table.map(line).join('\n')}\n\nratio > 1: ours is better`;
}

/** Details of each case beside its figure. @param {readonly Result[]} results */
export function formatDetails(results) {
  return results.map(({ name, details }) => `${[name, ...details].join('\n  ')}\n\n`).join('');
}
