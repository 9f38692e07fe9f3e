/** Gives items another parent, in one change, and offers to take that back. */
import type { Menu } from '@tollway/schema';
import { run, setAll } from '../api/commands.ts';
import type { Row } from '../api/row.ts';
import { showError, showToast } from '../ui/toasts.ts';
import { items } from './actions.ts';
import { rootParent } from './tree.ts';

/** What has its parent changed. */
export interface Moved {
  readonly ids: readonly string[];
  /** Those of them that are known, as they were. */
  readonly rows: readonly Row[];
}

/** `office is below isp now.` */
export function parentNews(menu: Menu, { ids, rows }: Moved, parent: string): string {
  const what = ids.length === 1 ? (rows[0]?.name ?? items(1)) : items(ids.length);
  const verb = ids.length === 1 ? 'is' : 'are';
  const root = parent === 'none' || parent === 'global';
  return root && parent === rootParent(menu)
    ? `${what} ${verb} at the root now.`
    : `${what} ${verb} below ${parent} now.`;
}

async function takeBack(menu: Menu, rows: readonly Row[]): Promise<void> {
  try {
    await setAll(
      menu.path,
      rows.map((row) => ({ '.id': row['.id'] ?? '', parent: row.parent ?? rootParent(menu) })),
    );
  } catch (error) {
    showError('Undo', error);
  }
}

/** Sets the parent of items. @throws RequestError when the server refuses it. */
export async function changeParent(menu: Menu, moved: Moved, parent: string): Promise<void> {
  const { ids, rows } = moved;
  await run(menu.path, 'set', ids, { parent });
  showToast({
    kind: 'info',
    text: parentNews(menu, moved, parent),
    ...(rows.length === ids.length && { action: { label: 'Undo', run: () => void takeBack(menu, rows) } }),
  });
}

/** The same, telling why when it is refused. */
export async function setParent(menu: Menu, moved: Moved, parent: string): Promise<void> {
  try {
    await changeParent(menu, moved, parent);
  } catch (error) {
    showError('Not moved', error);
  }
}
