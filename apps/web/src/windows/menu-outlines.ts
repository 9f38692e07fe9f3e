/** Outlines of menus: all that the desktop knows of them. Their declarations are fetched with their windows. */

import outlines from 'virtual:menu-outlines';
import type { MenuOutline } from '@tollway/schema';

/** Outlines of all menus, in the order of the menu tree, and within a window in the order of its tabs. */
export const menuOutlines = outlines;

const byPath: ReadonlyMap<string, MenuOutline> = new Map(outlines.map((outline) => [outline.path, outline]));

/** Outline of the menu of a path such as `/ip/address`. */
export const menuOutlineAt = (path: string): MenuOutline | undefined => byPath.get(path);
