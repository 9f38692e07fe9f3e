import type { Menu } from '@tollway/schema';
import { textOf } from '../../config/content.js';
import { QueryError, queryItems } from '../../config/query.js';
import { errors } from '../../errors.js';
import type { RestRow, RowSet } from '../../view/rows.js';
import { switchedOn } from '../arguments.js';
import { listed, projected, proplistOf } from '../listing.js';
import type { Answer, Call } from '../services.js';

/** `print`: the items that pass `.query`, or their number. Print switches such as `detail` and `stats` change nothing here. */
export async function print({ services, menu, args }: Call): Promise<Answer> {
  const view = services.views.get(menu.path);
  if (view === undefined) throw errors.noSuchCommand('print');
  const words = queryWords(args['.query']);
  const names = proplistOf(args['.proplist']);
  const rows = await view();
  const count = switchedOn(args, 'count-only');
  // Long tables are not decoded to be counted.
  if (words.length === 0) return count ? { ret: String(rows.length) } : listed(rows, names);
  const items = queried(menu, rows, words);
  return count ? { ret: String(items.length) } : projected(items, names);
}

function queried(menu: Menu, rows: RowSet, words: readonly string[]): readonly RestRow[] {
  try {
    return queryItems(menu, rows.all(), words);
  } catch (error) {
    throw error instanceof QueryError ? errors.badProperty('.query', error.message) : error;
  }
}

function queryWords(value: unknown): string[] {
  if (value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.map((word) => textOf('.query', word));
  return textOf('.query', value).split(',');
}
