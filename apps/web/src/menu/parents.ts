/** Changes the parent of items, in one revision. */
import type { Menu } from '@tollway/schema';
import { run } from '../api/commands.ts';
import { Unanswered } from '../api/rest.ts';
import type { Row } from '../api/row.ts';
import { showError } from '../ui/toasts.ts';
import { items } from './item.ts';
import { rootParent } from './tree.ts';
import { notifyChange, trackChange } from './undo.ts';

/** Items whose parent changes. */
export interface ReparentedItems {
  readonly ids: readonly string[];
  /** The known rows of these items, before the change. */
  readonly rows: readonly Row[];
}

/** `office is below isp now.` */
function parentText(menu: Menu, { ids, rows }: ReparentedItems, parent: string): string {
  const what = ids.length === 1 ? (rows[0]?.name ?? items(1)) : items(ids.length);
  const verb = ids.length === 1 ? 'is' : 'are';
  const root = parent === 'none' || parent === 'global';
  return root && parent === rootParent(menu)
    ? `${what} ${verb} at the root now.`
    : `${what} ${verb} below ${parent} now.`;
}

/** Sets the parent of items. @throws RequestError when the server refuses it. */
export async function changeParent(menu: Menu, moved: ReparentedItems, parent: string): Promise<void> {
  const text = `Set the parent of ${items(moved.ids.length)} in ${menu.title}`;
  const revision = await trackChange(text, run(menu.path, 'set', moved.ids, { parent }));
  notifyChange(parentText(menu, moved, parent), revision);
}

/** Sets the parent of items, with a message when it is refused. */
export async function tryChangeParent(menu: Menu, moved: ReparentedItems, parent: string): Promise<void> {
  try {
    await changeParent(menu, moved, parent);
  } catch (error) {
    showError(error instanceof Unanswered ? 'Set Parent' : 'Not moved', error);
  }
}
