/** What the toolbar and the keys do with selected rows. Failures are shown; nothing is retried by itself. */
import type { Menu } from '@tollway/schema';
import { add, move, run } from '../api/commands.ts';
import type { Row } from '../api/row.ts';
import { showError, showToast } from '../ui/toasts.ts';
import { givenValues, lockedReason } from './item.ts';
import type { Move } from './moving.ts';

/** `1 item`, `3 items`. */
export function items(count: number): string {
  return `${count} ${count === 1 ? 'item' : 'items'}`;
}

/** A removed item, and the item that came after it. */
interface Removed {
  readonly values: Readonly<Record<string, string>>;
  readonly before: string | undefined;
}

async function addAgain(menu: Menu, removed: readonly Removed[]): Promise<void> {
  const ordered = menu.commands.includes('move');
  let missing = removed.length;
  try {
    for (const item of removed) {
      await add(menu.path, {
        ...item.values,
        ...(ordered && item.before !== undefined ? { 'place-before': item.before } : {}),
      });
      missing--;
    }
  } catch (error) {
    showError(`${items(missing)} could not be added again`, error);
  }
}

/**
 * Removes items and offers to add them again. Items with secrets cannot be added again, nor can live entries.
 *
 * @param order ids around the removed ones, to find their places
 */
export async function removeItems(
  menu: Menu,
  rows: readonly Row[],
  ids: readonly string[],
  order: readonly string[],
): Promise<boolean> {
  const gone = new Set(ids);
  const removed = rows.map((row): Removed => {
    const at = order.indexOf(row['.id'] ?? '');
    return { values: givenValues(menu, row), before: order.slice(at + 1).find((id) => !gone.has(id)) };
  });
  try {
    await run(menu.path, 'remove', ids);
  } catch (error) {
    showError(`${items(ids.length)} not removed`, error);
    return false;
  }
  const secrets = Object.values(menu.props).some((prop) => prop.secret === true);
  const undoable = menu.stored && !secrets && rows.length === ids.length;
  showToast({
    kind: 'info',
    text: `Removed ${items(ids.length)} from ${menu.title}.`,
    ...(undoable ? { action: { label: 'Undo', run: () => void addAgain(menu, removed) } } : {}),
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
const PLACED = new Set(['add', 'set', 'unset', 'remove', 'enable', 'disable', 'comment', 'move', 'print', 'export']);

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
