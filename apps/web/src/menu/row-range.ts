/** The rows of a list to request, depending on the rows on the screen. Pure. */
import type { Query } from '../api/live-menu.ts';

/** Number of rows requested beyond the screen, above and below each. */
const MARGIN = 30;

/** Rows of a list on the screen, as positions in the list. */
interface OnScreen {
  readonly top: number;
  readonly last: number;
  /** Number of rows that fit on the screen. */
  readonly fitting: number;
  /** Length of the list. */
  readonly total: number;
}

/** The rows around the screen, if the requested ones do not cover it or end close to its edges. */
export function nextRowRange(
  { top, last, fitting, total }: OnScreen,
  asked: Pick<Query, 'first' | 'count'>,
): Pick<Query, 'first' | 'count'> | undefined {
  const covered = top >= asked.first && last < asked.first + asked.count;
  const near = top - asked.first < MARGIN / 4 && asked.first > 0;
  const far = asked.first + asked.count - last < MARGIN / 4 && asked.first + asked.count < total;
  if (covered && !near && !far) return undefined;
  const rows = Math.max(last - top + 1, fitting);
  return { first: Math.max(0, top - MARGIN), count: rows + 2 * MARGIN };
}
