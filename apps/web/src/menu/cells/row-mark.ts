/** Marks before the name of a row, which show its state by shape and colour. */
import type { Menu } from '@tollway/schema';
import type { Row } from '../../api/row.ts';
import { isSet } from './text.ts';

interface RowMark {
  /**
   * `low` is drawn empty, `middle` half and `high` full; `none`: there is no limit to compare with; `absent`: items of
   * this menu have no load.
   */
  readonly load: 'absent' | 'none' | 'low' | 'middle' | 'high';
  /** True when a setting of the row has no effect, or not the expected one. */
  readonly hinted: boolean;
  /** Text of the mark, for its tooltip. */
  readonly title: string;
}

/** Whether items have a rate and a limit for it. */
const hasLoad = ({ props }: Menu): boolean => props.rate !== undefined && props['max-limit'] !== undefined;

/** Name of the column that carries the marks of a menu. */
export function markColumn(menu: Menu): string | undefined {
  if (hasLoad(menu)) return 'name';
  return menu.props.hint === undefined ? undefined : menu.columns[0];
}

const DIRECTIONS = [' (upload)', ' (download)'] as const;

/**
 * Load of a queue: its rate relative to its limit, in the direction with the higher load; and whether it has a hint.
 */
export function rowMark(menu: Menu, row: Row): RowMark | undefined {
  if (markColumn(menu) === undefined) return undefined;
  const hint = row.hint ?? '';
  const { load, title }: Pick<RowMark, 'load' | 'title'> = hasLoad(menu) ? loadOf(row) : { load: 'absent', title: '' };
  const words = [title, hint === '' ? '' : `Hint: ${hint}`].filter((text) => text !== '');
  return { load, hinted: hint !== '', title: words.join('\n') };
}

function loadOf(row: Row): Pick<RowMark, 'load' | 'title'> {
  if (isSet(row, 'disabled') || isSet(row, 'invalid')) return { load: 'none', title: '' };
  const rates = (row.rate ?? '').split('/').map(Number);
  const limits = (row['max-limit'] ?? '').split('/').map(Number);
  let fullest = -1;
  let direction = '';
  for (const [at, limit] of limits.entries()) {
    const share = limit > 0 ? (rates[at] ?? 0) / limit : -1;
    if (share > fullest) {
      fullest = share;
      direction = limits.length > 1 ? (DIRECTIONS[at] ?? '') : '';
    }
  }
  if (fullest < 0) return { load: 'none', title: 'No max limit' };
  const load = fullest <= 0.5 ? 'low' : fullest <= 0.75 ? 'middle' : 'high';
  return { load, title: `${Math.floor(fullest * 100)}% of max limit${direction}` };
}
