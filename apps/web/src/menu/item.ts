/** Names and counts of items, and whether they can be changed. */
import { type Menu, thousands } from '@tollway/schema';
import { type Row, rowId } from '../api/row.ts';
import { isSet } from './cells/text.ts';

/** `1 985`: a count, as in all texts. */
export const amount = (count: number): string => thousands(String(count));

/** `1 item`, `1 985 items`. */
export const items = (count: number): string => `${amount(count)} ${count === 1 ? 'item' : 'items'}`;

/** Short name of an item: its key properties, or its id. */
function itemName(menu: Menu, row: Row): string {
  const parts = (menu.key ?? []).map((name) => row[name]).filter((value) => value !== undefined && value !== '');
  if (parts.length > 0) return parts.join(', ');
  if (row.chain !== undefined && row.action !== undefined) return `${row.chain}: ${row.action}`;
  return row[menu.columns[0] ?? '.id'] ?? row['.id'] ?? '';
}

/** Title of the dialog of an item. */
export function itemTitle(menu: Menu, row: Row): string {
  return `${menu.singular} <${row.name ?? itemName(menu, row)}>`;
}

/** Reason why an item is locked. */
type Lock = 'live' | 'builtin' | 'dynamic';

/** Whether an item is built-in and always exists. */
function isBuiltin(menu: Menu, row: Row): boolean {
  const number = Number.parseInt(rowId(row).replace('*', ''), 16);
  return menu.builtin?.some(({ id }) => id === number) === true;
}

/** Effect of a command on an item: removal, or any other. */
type ItemEffect = 'change' | 'remove';

function lockOf(menu: Menu, row: Row, effect: ItemEffect): Lock | undefined {
  if (!menu.commands.has('set')) return effect === 'remove' ? undefined : 'live';
  if (isBuiltin(menu, row) && (effect === 'remove' || menu.builtinSettable !== true)) return 'builtin';
  const goes = effect === 'remove' && menu.dynamicRemovable !== undefined;
  return isSet(row, 'dynamic') && !goes ? 'dynamic' : undefined;
}

const DONE: Readonly<Record<ItemEffect, string>> = { change: 'changed', remove: 'removed' };

function reasonFor(menu: Menu, row: Row, effect: ItemEffect): string | undefined {
  switch (lockOf(menu, row, effect)) {
    case 'live':
      return `${menu.title} only shows live state`;
    case 'builtin':
      return `this item always exists and cannot be ${DONE[menu.builtinSettable === true ? effect : 'change']}`;
    case 'dynamic':
      return 'this item is dynamic and cannot be changed; copy it to make your own';
    default:
      return undefined;
  }
}

/** Reason why an item cannot be changed; undefined when it can. */
export function lockedReason(menu: Menu, row: Row): string | undefined {
  return reasonFor(menu, row, 'change');
}

/** Reason why an item cannot be removed; undefined when it can. */
export function removalLockedReason(menu: Menu, row: Row): string | undefined {
  return reasonFor(menu, row, 'remove');
}

/**
 * `4 of the 8 selected rows`.
 * @param all whether every selected row is known; otherwise there may be more of them
 */
export function partOf(some: number, count: number, all: boolean): string {
  if (some === count) return some === 2 ? 'both selected rows' : `all ${amount(count)} selected rows`;
  return `${all ? '' : 'at least '}${amount(some)} of the ${amount(count)} selected rows`;
}

/**
 * Reason why several items cannot be changed or removed, if it applies to some of them; undefined when they can.
 * @param rows the known ones of these items
 * @param count number of all of these items
 */
export function someLockedReason(
  menu: Menu,
  rows: readonly Row[],
  count: number,
  effect: ItemEffect,
): string | undefined {
  const locks = rows.map((row) => lockOf(menu, row, effect)).filter((lock) => lock !== undefined);
  if (locks.length === 0) return undefined;
  if (locks.includes('live')) return `${menu.title} only shows live state`;
  const builtin = locks.filter((lock) => lock === 'builtin').length;
  const dynamic = locks.length - builtin;
  const states = [
    ...(builtin > 0 ? [locks.length === 1 ? 'always exists' : 'always exist'] : []),
    ...(dynamic > 0 ? [locks.length === 1 ? 'is dynamic' : 'are dynamic'] : []),
  ];
  const part = partOf(locks.length, count, rows.length === count);
  return `${part} ${states.join(' or ')} and cannot be ${DONE[effect]}`;
}

/** The values that a user has set for an item, e.g. to add it again. */
export function givenValues(menu: Menu, row: Row): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, prop] of Object.entries(menu.props)) {
    const value = row[name];
    if (value === undefined || prop.readOnly === true || prop.secret === true) continue;
    if (value === prop.default) continue;
    if (value === '' && prop.unset !== true) continue;
    values[name] = value;
  }
  return values;
}
