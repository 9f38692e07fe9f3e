/**
 * Confirmation before many items are removed, before items are removed that cannot be restored, and before users lock
 * themselves out. Pure.
 */
import type { Menu } from '@tollway/schema';
import { type Row, rowId } from '../api/row.ts';
import { isSet } from './cells/text.ts';
import { amount, items } from './item.ts';

/** Number of items whose removal must be confirmed; fewer need no confirmation. */
const CONFIRMED_FROM = 10;
/** Maximum number of items that the confirmation names. */
const NAMED = 5;

export interface RemoveConfirmation {
  readonly command: 'remove' | 'disable';
  /** Ids to remove or disable after confirmation, regardless of the selection at that time. */
  readonly ids: readonly string[];
  readonly title: string;
  /** Names of some of the items, and the number of the others. */
  readonly names: string;
  /** Text about rows that Find or the filter hides; empty without one. */
  readonly filtered: string;
  /** Text that all or some of the items cannot be restored; empty when all can. */
  readonly final: string;
  /** Ids of items that cannot be restored. */
  readonly lost: readonly string[];
  /** Sentence that the user is among the items; empty otherwise. */
  readonly self: string;
}

/** Items to be removed, as far as they are known. */
interface Removal {
  readonly ids: readonly string[];
  /** Rows of the items that {@link confirmationIds} returns. */
  readonly rows: readonly Row[];
  /** Whether Find or a filter hides rows. */
  readonly filtered: boolean;
  /** Number of rows that pass Find and the filter. */
  readonly matched: number;
  readonly total: number;
  /** Name of the user of the session. */
  readonly user: string | undefined;
}

/** Name of a row in a sentence: its name, its comment, or its first columns. */
function nameOf(menu: Menu, row: Row): string {
  if (row.name !== undefined && row.name !== '') return row.name;
  if (row.comment !== undefined && row.comment !== '') return `"${row.comment}"`;
  const shown = Object.keys(menu.props).filter((name) => row[name] !== undefined && row[name] !== '');
  const words = shown.slice(0, 2).map((name) => row[name] ?? '');
  return words.length > 0 ? words.join(' ') : (row['.id'] ?? '');
}

/** Text when one of the rows is the user who is logged in; empty when none is. */
function selfAmong(menu: Menu, rows: readonly Row[], user: string | undefined): string {
  const own = menu.logins === true && user !== undefined && rows.some((row) => row.name === user);
  return own ? `You are logged in as ${user}: this logs you out.` : '';
}

/** Items whose rows a confirmation needs, whether or not they are loaded; none when there is no confirmation. */
export function confirmationIds(menu: Menu, command: 'remove' | 'disable', ids: readonly string[]): readonly string[] {
  // The logged-in user may be among them.
  if (menu.logins === true) return ids;
  // Items that cannot be restored need a confirmation, too.
  if (command === 'remove' && menu.dynamicRemovable !== undefined) return ids;
  return command === 'remove' && (ids.length >= CONFIRMED_FROM || menu.undoable === false) ? ids.slice(0, NAMED) : [];
}

/** The confirmation before items are disabled; undefined when none is needed. */
export function disableConfirmation(
  menu: Menu,
  ids: readonly string[],
  rows: readonly Row[],
  user: string | undefined,
): RemoveConfirmation | undefined {
  const self = selfAmong(menu, rows, user);
  if (self === '') return undefined;
  const names = `${rows.map((row) => nameOf(menu, row)).join(', ')}.`;
  const title = `Disable ${items(ids.length)}?`;
  return { command: 'disable', ids, title, names, filtered: '', final: '', lost: [], self };
}

/** Items that Undo does not restore. `rows` includes those that {@link confirmationIds} returns. */
export function lostAmong(menu: Menu, ids: readonly string[], rows: readonly Row[]): readonly string[] {
  if (menu.undoable === false || menu.source === 'live') return ids;
  return menu.dynamicRemovable === undefined ? [] : rows.filter((row) => isSet(row, 'dynamic')).map(rowId);
}

function finalText(menu: Menu, lost: number, count: number): string {
  if (lost === 0) return '';
  const relearned = menu.dynamicRemovable === 'relearned';
  if (lost === count)
    return relearned ? 'Undo does not bring them back; they may be learned anew.' : 'This cannot be undone.';
  return `Undo does not bring back ${amount(lost)} of them, which ${lost === 1 ? 'is' : 'are'} ${relearned ? 'learned' : 'dynamic'}.`;
}

/** The confirmation before items are removed; undefined when none is needed. */
export function removeConfirmation(menu: Menu, removal: Removal): RemoveConfirmation | undefined {
  const { ids, rows, filtered, matched, total, user } = removal;
  const lost = lostAmong(menu, ids, rows);
  // Live and learned items reappear by themselves, so that their removal needs no confirmation.
  const comesAgain = menu.source === 'live' || menu.dynamicRemovable === 'relearned';
  if (ids.length < CONFIRMED_FROM && (lost.length === 0 || comesAgain)) return undefined;
  const named = rows.slice(0, NAMED).map((row) => nameOf(menu, row));
  const more = ids.length - named.length;
  const parts = [
    ...(matched < total ? [`Find or the filter shows ${amount(matched)} of ${amount(total)} items.`] : []),
    'All selected items are among those shown; hidden ones stay.',
  ];
  return {
    command: 'remove',
    ids,
    title: `Remove ${items(ids.length)} from ${menu.title}?`,
    names: named.length === 0 ? '' : `${named.join(', ')}${more > 0 ? ` and ${amount(more)} more` : ''}.`,
    filtered: filtered ? parts.join(' ') : '',
    final: finalText(menu, lost.length, ids.length),
    lost,
    self: selfAmong(menu, rows, user),
  };
}
