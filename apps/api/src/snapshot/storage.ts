import { type Menu, menuByPath } from '@tollway/schema';
import { interfaceMenus } from './interfaces.js';
import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';

/** Rows are stored by one menu and may be shown by other menus: `/interface` shows interfaces of all types. */

/**
 * Menus that store the rows which a menu shows: the menu itself, the menu in its `rowsOf`, or the menus of all types of
 * interfaces.
 */
export function storagesOf(path: string): readonly string[] {
  const menu = menuByPath(path);
  if (menu?.interfaceType === 'any') return interfaceMenus;
  return menu?.rowsOf === undefined ? [path] : storagesOf(menu.rowsOf);
}

/** Whether a menu shows rows of the configuration, stored by itself or by other menus. */
export const showsStoredRows = ({ path, source }: Menu): boolean => source !== 'live' || storagesOf(path)[0] !== path;

/** The stored rows that a menu shows. */
export const storedRowsOf = (snapshot: ConfigSnapshot, path: string): readonly Row[] =>
  storagesOf(path).flatMap((storage) => rowsOf(snapshot, storage));
