/** What the toolbar and the keys do with selected rows. Failures are shown; nothing is retried by itself. */
import type { Menu } from '@tollway/schema';
import { move, run } from '../api/commands.ts';
import { Unanswered } from '../api/rest.ts';
import type { Row } from '../api/row.ts';
import { showError } from '../ui/toasts.ts';
import { isSet } from './cells/text.ts';
import { amount, items, lockedAmong, lockedReason, partOf, removalLock } from './item.ts';
import type { Move } from './moving.ts';
import { tellChange, tried } from './undo.ts';

/**
 * Removes items and offers to take that back, whatever their number.
 * @param lost how many of them that does not bring back
 */
export async function removeItems(menu: Menu, ids: readonly string[], lost = 0): Promise<boolean> {
  try {
    const revision = await tried(`Remove ${items(ids.length)} from ${menu.title}`, run(menu.path, 'remove', ids));
    const text = `Removed ${items(ids.length)} from ${menu.title}`;
    const kept = ids.length - lost;
    if (revision === undefined || lost === 0 || kept === 0) tellChange(`${text}.`, revision);
    else {
      // The revision has the others alone: that is what Undo brings back, and Redo removes anew.
      const stored = `Removed ${amount(kept)} static ${kept === 1 ? 'item' : 'items'} from ${menu.title}.`;
      tellChange(`${text}, ${lostText(menu, lost)}.`, revision, stored);
    }
    return true;
  } catch (error) {
    showError(error instanceof Unanswered ? 'Remove' : `${items(ids.length)} not removed`, error);
    return false;
  }
}

/** Which of the removed items no Undo brings back. */
function lostText(menu: Menu, lost: number): string {
  return menu.dynamicRemovable === 'learns'
    ? `${amount(lost)} of them learned, which Undo does not bring back`
    : `${amount(lost)} of them for good`;
}

/** Runs a command such as `enable` or `reset-counters` on items. */
export async function runOn(
  menu: Menu,
  command: string,
  ids: readonly string[],
  values: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  try {
    const revision = await tried(triedText(menu, command, ids.length), run(menu.path, command, ids, values));
    if (revision !== undefined || menu.undoable === false) tellChange(doneText(menu, command, ids.length), revision);
    return true;
  } catch (error) {
    showError(commandLabel(command), error);
    return false;
  }
}

const DONE: Readonly<Record<string, string>> = { enable: 'Enabled', disable: 'Disabled', comment: 'Commented' };

/** `Disabled 2 items in Filter Rules.` */
function doneText(menu: Menu, command: string, count: number): string {
  const done = DONE[command] ?? `${commandLabel(command)}:`;
  return count === 0 ? `${done} ${menu.title}.` : `${done} ${items(count)} in ${menu.title}.`;
}

/** `Disable 2 items in Filter Rules` */
function triedText(menu: Menu, command: string, count: number): string {
  const label = commandLabel(command);
  return count === 0 ? `${label}, ${menu.title}` : `${label} ${items(count)} in ${menu.title}`;
}

/** Moves items of an ordered menu. */
export async function moveItems(menu: Menu, { ids, place }: Move): Promise<boolean> {
  try {
    const revision = await tried(`Move ${items(ids.length)} in ${menu.title}`, move(menu.path, ids, place));
    if (revision !== undefined) tellChange(`Moved ${items(ids.length)} in ${menu.title}.`, revision);
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

/**
 * Why a command cannot run on these rows; undefined when it can.
 * @param rows those of the selected rows that are known
 * @param count how many are selected
 */
export function whyNot(menu: Menu, command: string, rows: readonly Row[], count: number): string | undefined {
  if (count === 0) return 'select a row first';
  const [only] = rows;
  if (command === 'reset-counters') {
    const dynamic = rows.filter((row) => isSet(row, 'dynamic')).length;
    if (dynamic === 0) return undefined;
    if (count === 1) return 'counters of a dynamic item cannot be reset';
    const part = partOf(dynamic, count, rows.length === count);
    return `${part} ${dynamic === 1 ? 'is' : 'are'} dynamic, and counters of such cannot be reset`;
  }
  if (count > 1) return lockedAmong(menu, rows, count, command === 'remove' ? 'remove' : 'change');
  if (only === undefined) return undefined;
  return command === 'remove' ? removalLock(menu, only) : lockedReason(menu, only);
}
