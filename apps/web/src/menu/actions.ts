/** What the toolbar and the keys do with selected rows. Failures are shown; nothing is retried by itself. */
import type { Menu } from '@tollway/schema';
import { addAll, move, print, run } from '../api/commands.ts';
import { type Row, rowId } from '../api/row.ts';
import { showError, showToast } from '../ui/toasts.ts';
import { lockedReason } from './item.ts';
import type { Move } from './moving.ts';
import { additions } from './restore.ts';

/** `1 item`, `3 items`. */
export function items(count: number): string {
  return `${count} ${count === 1 ? 'item' : 'items'}`;
}

type Values = Readonly<Record<string, string>>;

/** Adds items again, all of them or none. Entries of lists that have a timeout are no configuration: they come apart. */
async function addAgain(menu: Menu, list: readonly Values[]): Promise<void> {
  let missing = list.length;
  try {
    for (const part of [list.filter(({ timeout }) => !timeout), list.filter(({ timeout }) => timeout)]) {
      if (part.length > 0) await addAll(menu.path, part);
      missing -= part.length;
    }
  } catch (error) {
    showError(`${items(missing)} could not be added again`, error);
  }
}

/** Ids of a menu in its order. */
async function orderOf(menu: Menu): Promise<readonly string[]> {
  return (await print(menu.path, { '.proplist': '.id' })).map(rowId);
}

/**
 * Removes items and offers to add them again. Items with secrets cannot be added again, nor can live entries.
 *
 * @param rows those of the items that are known
 * @param order ids of the menu in its order, from the first of the items to one behind the last, as far as that is known
 */
export async function removeItems(
  menu: Menu,
  rows: readonly Row[],
  ids: readonly string[],
  order: readonly string[] | undefined,
): Promise<boolean> {
  const secrets = Object.values(menu.props).some((prop) => prop.secret === true);
  const undoable = menu.stored && !secrets && rows.length === ids.length;
  let again: readonly Values[] = [];
  try {
    if (undoable) again = additions(menu, rows, order ?? (menu.commands.includes('move') ? await orderOf(menu) : []));
    await run(menu.path, 'remove', ids);
  } catch (error) {
    showError(`${items(ids.length)} not removed`, error);
    return false;
  }
  showToast({
    kind: 'info',
    text: `Removed ${items(ids.length)} from ${menu.title}.`,
    ...(undoable && { action: { label: 'Undo', run: () => void addAgain(menu, again) } }),
  });
  return true;
}

/** Runs a command such as `enable` or `reset-counters` on items. */
export async function runOn(
  menu: Menu,
  command: string,
  ids: readonly string[],
  values: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  try {
    await run(menu.path, command, ids, values);
    return true;
  } catch (error) {
    showError(commandLabel(command), error);
    return false;
  }
}

/** Moves items of an ordered menu. */
export async function moveItems(menu: Menu, { ids, destination }: Move): Promise<boolean> {
  try {
    await move(menu.path, ids, destination);
    return true;
  } catch (error) {
    showError('Move', error);
    return false;
  }
}

/** `Reset Counters` for `reset-counters`. */
export function commandLabel(command: string): string {
  if (command === 'reset-counters-all') return 'Reset All Counters';
  return command
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
}

/** Commands that have a place of their own in the toolbar, the dialog or the form. */
const PLACED = new Set([
  'add',
  'set',
  'unset',
  'reset',
  'remove',
  'enable',
  'disable',
  'comment',
  'move',
  'print',
  'export',
]);

/** Commands that belong to this window alone. */
export function specialCommands(menu: Menu): readonly string[] {
  return menu.commands.filter((command) => !PLACED.has(command));
}

/** True for commands that act on the whole menu instead of the selection. */
export function actsOnAll(command: string): boolean {
  return command.endsWith('-all');
}

/** Why a command cannot run on these rows; undefined when it can. */
export function whyNot(menu: Menu, command: string, rows: readonly Row[], count: number): string | undefined {
  if (count === 0) return 'select a row first';
  if (command === 'reset-counters' || (command === 'remove' && !menu.commands.includes('set'))) return undefined;
  for (const row of rows) {
    const locked = lockedReason(menu, row);
    if (locked !== undefined) return locked;
  }
  return undefined;
}
