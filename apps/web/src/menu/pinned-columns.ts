/** Columns that stay in view at the right edge: widths, classes and offsets. */
import type { Column } from './columns.ts';

/** Maximum share of the table's width for pinned columns; beyond it they scroll with the others. */
const MAX_SHARE = 0.3;

/** Class of a cell of the column; empty for a column that scrolls. */
export function pinClass({ pinIndex }: Column): string {
  return pinIndex === undefined ? '' : 'cell-pinned';
}

/** Distance of a cell of the column from the right edge. */
export function pinOffset({ pinIndex }: Column): string | undefined {
  return pinIndex === undefined ? undefined : `var(--pin-${pinIndex})`;
}

/** Distances by custom property, and whether the columns fit a table that is `width` px wide. */
export function pinOffsets(
  columns: readonly Column[],
  width: number,
): { offsets: ReadonlyMap<string, string>; fit: boolean } {
  const offsets = new Map<string, string>();
  let sum = 0;
  for (const column of columns.toReversed()) {
    if (column.pinIndex === undefined) break;
    offsets.set(`--pin-${column.pinIndex}`, `${sum}px`);
    sum += column.width ?? 0;
  }
  return { offsets, fit: sum > 0 && sum <= width * MAX_SHARE };
}
