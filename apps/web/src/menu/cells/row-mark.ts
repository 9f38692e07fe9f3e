/** Marks before the name of a row that tell its state by shape and colour. */
import type { Menu } from '@tollway/schema';
import type { Row } from '../../api/row.ts';
import { isSet } from './text.ts';

export interface RowMark {
  /** `low` is drawn empty, `middle` half and `high` full; `none` where there is nothing to compare. */
  readonly load: 'none' | 'low' | 'middle' | 'high';
  /** The same in words. */
  readonly title: string;
}

/** Name of the column that carries the marks of a menu. */
export function markColumn(menu: Menu): string | undefined {
  return menu.path === '/queue/simple' ? 'name' : undefined;
}

const DIRECTIONS = ['upload', 'download'] as const;

/** How full a queue is: its rate against its max limit, in the direction that is fuller. */
export function rowMark(menu: Menu, row: Row): RowMark | undefined {
  if (markColumn(menu) === undefined) return undefined;
  if (isSet(row, 'disabled') || isSet(row, 'invalid')) return { load: 'none', title: '' };
  const rates = (row.rate ?? '').split('/').map(Number);
  const limits = (row['max-limit'] ?? '').split('/').map(Number);
  let fullest = -1;
  let direction = '';
  for (const [at, name] of DIRECTIONS.entries()) {
    const limit = limits[at] ?? 0;
    const share = limit > 0 ? (rates[at] ?? 0) / limit : -1;
    if (share > fullest) {
      fullest = share;
      direction = name;
    }
  }
  if (fullest < 0) return { load: 'none', title: 'No max limit' };
  const load = fullest <= 0.5 ? 'low' : fullest <= 0.75 ? 'middle' : 'high';
  return { load, title: `${Math.floor(fullest * 100)} % of max limit (${direction})` };
}
