import { textOf } from '../../config/content.js';
import { QueryError, queryItems } from '../../config/query.js';
import { errors } from '../../errors.js';
import { switchedOn } from '../arguments.js';
import { projected, proplistOf } from '../listing.js';
import type { Answer, Call } from '../services.js';

/** `print`: the items that pass `.query`, or their number. Print switches such as `detail` and `stats` change nothing here. */
export async function print({ services, menu, args }: Call): Promise<Answer> {
  const view = services.views.get(menu.path);
  if (view === undefined) throw errors.noSuchCommand('print');
  const words = queryWords(args['.query']);
  const names = proplistOf(args['.proplist']);
  const rows = await view();
  let items = rows.all();
  if (words.length > 0) {
    try {
      items = queryItems(menu, items, words);
    } catch (error) {
      throw error instanceof QueryError ? errors.badProperty('.query', error.message) : error;
    }
  }
  if (switchedOn(args, 'count-only')) return { ret: String(items.length) };
  return projected(items, names);
}

function queryWords(value: unknown): string[] {
  if (value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.map((word) => textOf('.query', word));
  return textOf('.query', value).split(',');
}
