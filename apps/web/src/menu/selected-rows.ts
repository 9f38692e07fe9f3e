/** Selected rows, including those that are no longer loaded after scrolling. */
import type { Menu } from '@tollway/schema';
import { MAX_ASKED, printItems } from '../api/commands.ts';
import type { LiveMenu } from '../api/live-menu.ts';
import { type Row, rowId } from '../api/row.ts';
import { rowsBlockedReason } from './actions.ts';

/**
 * The rows with these ids, in this order, without rows that no longer exist. Rows that are not loaded are requested.
 * @param properties properties to request
 * @throws RequestError when the router does not answer
 */
export async function rowsWith(
  menu: Menu,
  live: Pick<LiveMenu, 'row'>,
  ids: readonly string[],
  properties: readonly string[],
): Promise<readonly Row[]> {
  const missing = ids.filter((id) => live.row(id) === undefined);
  const fetched = missing.length === 0 ? [] : await printItems(menu.path, missing, properties);
  const others = new Map(fetched.map((row) => [rowId(row), row]));
  return ids.map((id) => live.row(id) ?? others.get(id)).filter((row) => row !== undefined);
}

/**
 * Reason why items cannot be removed, even if the locked ones are not loaded; undefined when they can, or when too many
 * are not loaded to check them here, as a menu may have a million learned items.
 * @throws RequestError when the router does not answer
 */
export async function removalBlockedReason(
  menu: Menu,
  live: Pick<LiveMenu, 'row'>,
  ids: readonly string[],
): Promise<string | undefined> {
  const asks = menu.props.dynamic !== undefined && menu.dynamicRemovable === undefined && menu.commands.has('set');
  const missing = asks ? ids.filter((id) => live.row(id) === undefined) : [];
  const asked = missing.length <= MAX_ASKED;
  const fetched = asked && missing.length > 0 ? await printItems(menu.path, missing, ['dynamic']) : [];
  const others = new Map(fetched.map((row) => [rowId(row), row]));
  // The ids show which items are built-in.
  const rows = ids
    .map((id) => live.row(id) ?? others.get(id) ?? (asked ? { '.id': id } : undefined))
    .filter((row) => row !== undefined);
  return rowsBlockedReason(menu, 'remove', rows, ids.length);
}

/** Comments of rows by their ids. */
export type Comments = ReadonlyMap<string, string>;

export const commentsOf = (rows: readonly Row[]): Comments =>
  new Map(rows.map((row) => [rowId(row), row.comment ?? '']));

/** The common comment of items, or that of a single item; undefined when they differ. */
function commonComment(comments: readonly (string | undefined)[]): string | undefined {
  const [first = '', ...others] = comments.map((comment) => comment ?? '');
  return others.every((comment) => comment === first) ? first : undefined;
}

/**
 * Present common comment of rows, using `before` for rows that are not loaded; undefined when comments differ, null
 * when none is known.
 */
export function commentNow(
  live: Pick<LiveMenu, 'row'>,
  ids: readonly string[],
  before: Comments,
): string | undefined | null {
  const comments: string[] = [];
  for (const id of ids) {
    const row = live.row(id);
    const comment = row === undefined ? before.get(id) : (row.comment ?? '');
    if (comment !== undefined) comments.push(comment);
  }
  return comments.length === 0 ? null : commonComment(comments);
}
