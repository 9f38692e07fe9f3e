/** Actions of the toolbar and of keys on selected rows. Failures are shown; nothing is retried automatically. */
import type { Menu } from '@tollway/schema';
import { move, printItems, type Revision, run } from '../api/commands.ts';
import { RequestError, Unanswered } from '../api/rest.ts';
import { type Row, rowId } from '../api/row.ts';
import { showError } from '../ui/toasts.ts';
import { isSet } from './cells/text.ts';
import { amount, items, lockedReason, partOf, removalLockedReason, someLockedReason } from './item.ts';
import type { Move } from './row-moves.ts';
import { notifyChange, trackChange } from './undo.ts';

/**
 * Maximum number of attempts to remove several items: entries with a timeout may disappear meanwhile, and the rest is
 * retried.
 */
const TRIES = 5;

/** Removes the items that still exist. A single item must exist. */
async function removePresent(
  menu: Menu,
  ids: readonly string[],
  tries = TRIES,
): Promise<{ readonly removed: readonly string[]; readonly revision: Revision }> {
  try {
    return { removed: ids, revision: await run(menu.path, 'remove', ids) };
  } catch (error) {
    const gone = error instanceof RequestError && error.status === 404;
    if (!gone || ids.length === 1 || tries === 1) throw error;
    const there = new Set((await printItems(menu.path, ids, [])).map(rowId));
    const left = ids.filter((id) => there.has(id));
    if (left.length === 0) throw error;
    return removePresent(menu, left, tries - 1);
  }
}

/**
 * Removes items and offers to undo the removal, whatever their number.
 * @param lost items that Undo does not restore
 */
export async function removeItems(
  menu: Menu,
  ids: readonly string[],
  lost: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  try {
    const removing = removePresent(menu, ids);
    const { removed, revision } = await trackChange(`Remove ${items(ids.length)} from ${menu.title}`, removing);
    const text = `Removed ${items(removed.length)} from ${menu.title}`;
    const final = removed.filter((id) => lost.has(id)).length;
    const kept = removed.length - final;
    if (revision === undefined || final === 0 || kept === 0) notifyChange(`${text}.`, revision);
    else {
      // The revision contains only the stored items, which Undo restores and Redo removes again.
      const stored = `Removed ${amount(kept)} static ${kept === 1 ? 'item' : 'items'} from ${menu.title}.`;
      notifyChange(`${text}, ${lostText(menu, final)}.`, revision, stored);
    }
    return true;
  } catch (error) {
    showError(error instanceof Unanswered ? 'Remove' : `${items(ids.length)} not removed`, error);
    return false;
  }
}

/** Text about removed items that Undo does not restore. */
function lostText(menu: Menu, lost: number): string {
  return menu.dynamicRemovable === 'relearned'
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
    const revision = await trackChange(triedText(menu, command, ids.length), run(menu.path, command, ids, values));
    const isDone = revision !== undefined || menu.undoable === false || menu.commands.get(command)?.effect === 'action';
    if (isDone) notifyChange(doneText(menu, command, ids.length), revision);
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
export async function moveItems(menu: Menu, { ids, position }: Move): Promise<boolean> {
  try {
    const revision = await trackChange(`Move ${items(ids.length)} in ${menu.title}`, move(menu.path, ids, position));
    if (revision !== undefined) notifyChange(`Moved ${items(ids.length)} in ${menu.title}.`, revision);
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

/** Commands of a menu that are not among those of every table. */
export function specialCommands(menu: Menu): readonly string[] {
  return [...menu.commands.values()].filter(({ button }) => button === true).map(({ name }) => name);
}

/** True for commands that act on the whole menu instead of the selection. */
export function actsOnAll(menu: Menu, command: string): boolean {
  return menu.commands.get(command)?.target === 'menu';
}

/**
 * Reason why a command cannot run on these rows; undefined when it can.
 * @param rows the known ones of the selected rows
 * @param count number of selected rows
 */
export function rowsBlockedReason(
  menu: Menu,
  command: string,
  rows: readonly Row[],
  count: number,
): string | undefined {
  if (count === 0) return 'select a row first';
  const [only] = rows;
  const declared = menu.commands.get(command);
  if (declared?.effect === 'action')
    return declared.dynamicRows === true ? undefined : actionBlockedReason(command, rows, count);
  if (declared?.dynamicRows === true && command !== 'remove') return undefined;
  if (count > 1) return someLockedReason(menu, rows, count, command === 'remove' ? 'remove' : 'change');
  if (only === undefined) return undefined;
  return command === 'remove' ? removalLockedReason(menu, only) : lockedReason(menu, only);
}

/** Reason why an action cannot run on rows. An action does not change rows, so that it can run on locked rows, too. */
function actionBlockedReason(command: string, rows: readonly Row[], count: number): string | undefined {
  const dynamic = rows.filter((row) => isSet(row, 'dynamic')).length;
  if (dynamic === 0) return undefined;
  const label = commandLabel(command);
  if (count === 1) return `${label} does not apply to a dynamic item`;
  const part = partOf(dynamic, count, rows.length === count);
  return `${part} ${dynamic === 1 ? 'is' : 'are'} dynamic, and ${label} does not apply to such items`;
}
