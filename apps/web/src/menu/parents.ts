/** Gives items another parent, in one change, and offers to take that back. */
import type { Menu } from '@tollway/schema';
import { run } from '../api/commands.ts';
import type { Row } from '../api/row.ts';
import { showError, showToast } from '../ui/toasts.ts';
import { items } from './actions.ts';
import { rootParent } from './tree.ts';

const idsOf = (rows: readonly Row[]): readonly string[] => rows.flatMap((row) => row['.id'] ?? []);

/** Ids by the parent that the rows have, the usual one where they name none. */
export function idsByParent(menu: Menu, rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const parent = row.parent ?? rootParent(menu);
    groups.set(parent, [...(groups.get(parent) ?? []), row['.id'] ?? '']);
  }
  return groups;
}

/** `office is below isp now.` */
export function parentNews(menu: Menu, rows: readonly Row[], parent: string): string {
  const what = rows.length === 1 ? (rows[0]?.name ?? items(1)) : items(rows.length);
  const verb = rows.length === 1 ? 'is' : 'are';
  const root = parent === 'none' || parent === 'global';
  return root && parent === rootParent(menu)
    ? `${what} ${verb} at the root now.`
    : `${what} ${verb} below ${parent} now.`;
}

async function takeBack(menu: Menu, before: ReadonlyMap<string, readonly string[]>): Promise<void> {
  try {
    for (const [parent, ids] of before) await run(menu.path, 'set', ids, { parent });
  } catch (error) {
    showError('Undo', error);
  }
}

/** Sets the parent of items. @throws RequestError when the server refuses it. */
export async function changeParent(menu: Menu, rows: readonly Row[], parent: string): Promise<void> {
  const before = idsByParent(menu, rows);
  await run(menu.path, 'set', idsOf(rows), { parent });
  showToast({
    kind: 'info',
    text: parentNews(menu, rows, parent),
    action: { label: 'Undo', run: () => void takeBack(menu, before) },
  });
}

/** The same, telling why when it is refused. */
export async function setParent(menu: Menu, rows: readonly Row[], parent: string): Promise<void> {
  try {
    await changeParent(menu, rows, parent);
  } catch (error) {
    showError('Not moved', error);
  }
}
