import type { Menu } from '@tollway/schema';
import { type ApiError, errors } from '../errors.js';
import { type Arguments, textOf } from './content.js';
import { FIRST_DYNAMIC_ROW, parseRowId, type Row } from './snapshot.js';

/** How items are named in requests: `*1F`, or by name in menus whose items have one. */

/** Menu that holds the rows that `menu` shows. */
export const storageOf = (menu: Pick<Menu, 'path' | 'rowsOf'>): string => menu.rowsOf ?? menu.path;

/**
 * The row that a text names.
 * @throws ApiError when there is none (`missing`), or when it cannot be changed.
 */
export function findItem(menu: Menu, rows: readonly Row[], text: string, missing: () => ApiError): Row {
  const id = parseRowId(text);
  const row =
    id === undefined
      ? rows.find((candidate) => 'name' in menu.props && candidate.values.name === text)
      : rows.find((candidate) => candidate.id === id);
  if (row !== undefined) return row;
  const builtin = menu.builtin?.some((item) => item.id === id || item.values.name === text);
  if (builtin) throw errors.failure('a builtin item can not be changed');
  throw missing();
}

/** True for ids that the data plane gave. */
export function isDynamicId(text: string): boolean {
  const id = parseRowId(text);
  return id !== undefined && id >= FIRST_DYNAMIC_ROW;
}

/**
 * The items that `.id` or `numbers` of a command name, in their order.
 * @throws ApiError when neither is given.
 */
export function namedItems(args: Arguments): string[] {
  const given = args['.id'] ?? args.numbers;
  if (given === undefined) throw errors.missingProperty('numbers', 'ids or names of items, separated by commas');
  const items = textOf('numbers', given)
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw errors.missingProperty('numbers', 'ids or names of items, separated by commas');
  return items;
}

/** Answer of commands for an item that is not there. */
export const noSuchItem = (): ApiError => errors.badRequest('no such item');
