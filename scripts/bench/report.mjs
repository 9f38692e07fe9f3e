// What the bench prints for people.

function figure(value) {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k`;
  return value.toFixed(2);
}

/** One line per case. */
export function formatTable(results) {
  const rows = results.map((result) => [
    result.name,
    result.unit,
    figure(result.ours),
    figure(result.baseline),
    result.ratio.toFixed(2),
    result.io,
  ]);
  const table = [['case', 'unit', 'ours', 'baseline', 'ratio', 'io'], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const line = (row) => row.map((cell, column) => cell.padEnd(widths[column])).join('  ').trimEnd();
  return `${table.map(line).join('\n')}\n\nratio > 1: ours is better\n`;
}

/** What each case says beside its figure. */
export function formatDetails(results) {
  return results
    .filter((result) => result.details?.length > 0)
    .map((result) => `${result.name}\n${result.details.map((line) => `  ${line}`).join('\n')}\n\n`)
    .join('');
}
