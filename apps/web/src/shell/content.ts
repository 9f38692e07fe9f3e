/** Meaning of the addresses of windows: title, size, and which addresses have the same content. */
import type { MenuOutline, WindowSize } from '@tollway/schema';
import { newTitle } from '../menu/new-title.ts';
import { menuOutlineAt } from '../windows/menu-outlines.ts';
import { definitionOf, sizeOf } from '../windows/window-definitions.ts';
import type { Size } from '../wm/geometry.ts';
import type { Content } from '../wm/reducer.ts';
import { parseAddress } from './location.ts';

const LIST: Size = { width: 960, height: 500 };
const FORM: Size = { width: 560, height: 420 };
const DIALOG: Size = { width: 620, height: 440 };

const given = (size: WindowSize | undefined): Size | undefined => size && { width: size[0], height: size[1] };

function listSize(menu: MenuOutline | undefined, key: string): Size {
  const special = given(sizeOf(key));
  if (special !== undefined) return special;
  return menu?.kind === 'settings' || menu?.kind === 'status' ? FORM : LIST;
}

/** True for the address of a list or form, as opposed to that of an item. */
export function isTabAddress(path: string): boolean {
  return definitionOf(path) !== undefined;
}

/** Content of the window with this address; undefined for an invalid address. */
export function contentOf(address: string): Content | undefined {
  const { path, item } = parseAddress(address, isTabAddress);
  const definition = path === undefined ? undefined : definitionOf(path);
  if (path === undefined || definition === undefined) return undefined;
  const menu = menuOutlineAt(path);
  if (item.kind === 'none') {
    return {
      address: path,
      key: definition.key,
      place: definition.key,
      role: 'region',
      title: definition.title,
      size: listSize(menu, definition.key),
    };
  }
  if (menu === undefined || menu.kind === 'settings' || menu.kind === 'status') return undefined;
  if (item.kind === 'new' && menu.addPermission === undefined) return undefined;
  const key = address.replace(/\/+(\?|$)/, '$1');
  return {
    address: key,
    key,
    place: `${path}/*`,
    role: 'dialog',
    title: item.kind === 'new' ? newTitle(menu) : menu.singular,
    size: given(menu.window?.dialogSize) ?? DIALOG,
  };
}

/** Whether a window should be reopened automatically: every window except those of items that were never added. */
export function isRestorable(address: string): boolean {
  const { path, item } = parseAddress(address, isTabAddress);
  return path !== undefined && item.kind !== 'new';
}
