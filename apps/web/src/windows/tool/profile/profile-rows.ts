/** Rows of the profiler as the window shows them. Pure. */

import type { Usage } from '../../../api/profile.ts';

/** Cores that occur in the rows, in order. */
export function coresOf(rows: readonly Usage[]): readonly string[] {
  const cores = new Set(rows.map((row) => row.cpu).filter((cpu) => /^\d+$/.test(cpu)));
  return [...cores].sort((a, b) => Number(a) - Number(b));
}

/**
 * The rows for a choice of core: one core, `all` cores individually, or `total`, the mean over the cores. Sorted by
 * usage, highest first; equal rows keep the order of the server.
 */
export function profileOf(rows: readonly Usage[], choice: string): readonly Usage[] {
  const cores = coresOf(rows);
  let shown: readonly Usage[];
  if (choice === 'all') shown = rows.filter((row) => row.cpu !== 'total');
  else if (choice !== 'total') shown = rows.filter((row) => row.cpu === choice);
  else if (cores.length === 0 || rows.some((row) => row.cpu === 'total')) {
    shown = rows.filter((row) => !/^\d+$/.test(row.cpu));
  } else {
    const sums = new Map<string, number>();
    for (const row of rows) if (row.cpu !== 'total') sums.set(row.name, (sums.get(row.name) ?? 0) + row.usage);
    shown = [...sums].map(([name, sum]) => ({ name, cpu: 'total', usage: sum / cores.length }));
  }
  return shown.toSorted((a, b) => b.usage - a.usage);
}

/** Load of each core: everything but idle, percent. In the order of the cores. */
export function busyCores(rows: readonly Usage[]): readonly { readonly core: string; readonly busy: number }[] {
  return coresOf(rows).map((core) => ({
    core,
    busy: rows.reduce((sum, row) => (row.cpu === core && row.name !== 'idle' ? sum + row.usage : sum), 0),
  }));
}
