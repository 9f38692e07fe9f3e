/** What a page needs of a menu before a window of it opens. */
import type { Policy } from './command.js';
import type { Menu } from './menu.js';

/** Name and place of a menu and of its window. JSON can hold it. */
export interface MenuOutline extends Pick<Menu, 'path' | 'title' | 'singular' | 'kind' | 'tree' | 'window'> {
  /** Permission for adding items; absent for a menu to which none can be added. */
  readonly addPermission?: Policy;
}

/** The outline of a menu. */
export function menuOutline({ path, title, singular, kind, tree, window, commands }: Menu): MenuOutline {
  const add = commands.get('add');
  return {
    path,
    title,
    singular,
    kind,
    tree,
    ...(window !== undefined && { window }),
    ...(add !== undefined && { addPermission: add.permission }),
  };
}
