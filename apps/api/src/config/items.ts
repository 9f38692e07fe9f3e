import { isDeepStrictEqual } from 'node:util';
import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { type Menu, type Prop, registry } from '@tollway/schema';
import { type ApiError, errors } from '../errors.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import { builtinRow } from '../snapshot/builtin.js';
import { nameOf, RowsByKey } from '../snapshot/rows-by-key.js';
import { parseRowId, type Row } from '../snapshot/snapshot.js';
import { storagesOf } from '../snapshot/storage.js';
import { type Arguments, argumentText } from './content.js';
import type { Draft } from './draft.js';

/** Items as requests name them: by `.id`, such as `*1F`, or by name in menus whose items have names. */

/** The menu itself, then the other menus that show and change the rows that it stores. */
export function menusOf(menu: Menu): readonly Menu[] {
  return [menu, ...registry.filter(({ path }) => path !== menu.path && storagesOf(path).includes(menu.path))];
}

/** Property by which requests name items of a menu; undefined where they have no names. */
export function nameProp(menu: Menu): string | undefined {
  if ('name' in menu.props) return 'name';
  // Rows of another menu are named by the name that they have in that menu (`/queue/interface`).
  return menu.rowsOf === undefined ? undefined : menu.key?.[0];
}

const known = new WeakMap<Menu, Readonly<Record<string, Prop>>>();

/** Properties that rows of a menu may hold: a menu that shows them may have properties of its own (`/queue/interface`). */
export function storedProps(menu: Menu): Readonly<Record<string, Prop>> {
  let props = known.get(menu);
  if (props === undefined) {
    props = Object.assign({}, ...menusOf(menu).map((each) => each.props), menu.props) as Record<string, Prop>;
    known.set(menu, props);
  }
  return props;
}

/**
 * The rows that the texts name, in the order of the texts. Works in time slices.
 * @throws ApiError when there is no such row (`notFound`), or when it cannot be changed.
 */
export async function findItems(
  menu: Menu,
  rows: readonly Row[],
  texts: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<Row[]> {
  const slicer = new TimeSlicer();
  const byId = new Map<number, Row>();
  await slicer.map(rows, (row) => {
    byId.set(row.id, row);
  });
  const byKey = new RowsByKey(nameProp(menu) === undefined ? [] : rows);
  if (texts.some((text) => !text.startsWith('*'))) await byKey.prepare(nameOf, slicer);
  return slicer.map(texts, (text) => {
    const id = parseRowId(text);
    const row = id === undefined ? [...byKey.having(nameOf, text)][0] : byId.get(id);
    return existing(menu, row, text, notFound);
  });
}

/** A row of a draft and the menu that stores it. */
interface DraftedItem {
  readonly row: Row;
  readonly storage: string;
}

/** Finds an item like {@link findItems}, by the indexes of a draft. */
export function findDrafted(menu: Menu, draft: Draft, text: string, notFound: (item: string) => ApiError): DraftedItem {
  const id = parseRowId(text);
  for (const storage of storagesOf(menu.path)) {
    const named = id === undefined && nameProp(menu) !== undefined ? draft.byKey(storage).having(nameOf, text) : [];
    const row = id === undefined ? [...named][0] : draft.find(storage, id);
    if (row !== undefined) return { row, storage };
  }
  return { row: existing(menu, undefined, text, notFound), storage: storagesOf(menu.path)[0] ?? menu.path };
}

function existing(menu: Menu, row: Row | undefined, text: string, notFound: (item: string) => ApiError): Row {
  if (row !== undefined) return row;
  const id = parseRowId(text);
  const builtin = builtinRow(menu, id === undefined ? { name: text } : { id });
  if (builtin === undefined) throw notFound(text);
  if (menu.builtinSettable) return builtin;
  throw errors.failure('a builtin item can not be changed');
}

/** Whether an id denotes an item of the data plane: such ids are longer than the ids of stored rows. */
export function isDynamicId(text: string): boolean {
  if (/^\*[0-9A-Fa-f]{9,}$/.test(text)) return true;
  const id = parseRowId(text);
  return id !== undefined && id >= FIRST_DYNAMIC_ROW;
}

/** Maximum number of items that one command names. */
const MAX_ITEMS = 100_000;

/**
 * The items that `.id` or `numbers` of a command name, in their order and without duplicates: a comma-separated text,
 * or a list, whose elements are not split, as names of queues may contain commas. Works in time slices.
 * @throws ApiError when neither is given, or when there are too many items.
 */
export async function namedItems(args: Arguments): Promise<string[]> {
  const given = args['.id'] ?? args.numbers;
  if (given === undefined) throw errors.missingProperty('numbers', 'ids or names of items, separated by commas');
  if (args.numbers !== undefined && !isDeepStrictEqual(given, args.numbers)) {
    throw errors.badProperty('numbers', 'value of numbers: .id names other items; give one of the two');
  }
  const texts: readonly unknown[] = Array.isArray(given)
    ? given.slice(0, MAX_ITEMS + 1)
    : argumentText('numbers', given).split(',', MAX_ITEMS + 1);
  if (texts.length > MAX_ITEMS) {
    throw errors.badProperty('numbers', `value of numbers: it names more than ${MAX_ITEMS} items; give fewer at once`);
  }
  const items = new Set<string>();
  await new TimeSlicer().map(texts, (item) => {
    items.add(argumentText('numbers', item).trim());
  });
  items.delete('');
  if (items.size === 0) throw errors.missingProperty('numbers', 'ids or names of items, separated by commas');
  return [...items];
}

/** Maximum number of characters of an item's name or id that error messages repeat. */
const MAX_QUOTED = 64;

/** Error of commands for an item that does not exist. */
export const noSuchItem = (item: string): ApiError =>
  errors.badRequest(`no such item: ${item.length > MAX_QUOTED ? `${item.slice(0, MAX_QUOTED)}...` : item}`);
