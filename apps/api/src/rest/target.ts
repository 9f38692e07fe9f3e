import { type Menu, menuByPath, registry } from '@tollway/schema';
import { errors } from '../errors.js';

/** Menu and item that a `/rest` URL names. */
export interface Target {
  readonly menu: Menu;
  /** Rest of the path after the menu: an item, or a command for POST. */
  readonly item: string | undefined;
}

/** Paths above menus that are not menus themselves: `/ip`, `/system` … */
const directories = new Set(
  registry.flatMap(({ path }) => {
    const parts = path.split('/').slice(1, -1);
    return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
  }),
);

/**
 * Finds the menu of a URL path after `/rest`, and what follows it.
 * @throws ApiError 404 for a path that is no menu, 400 for a broken escape.
 */
export function findTarget(path: string): Target {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  for (let length = Math.min(parts.length, DEEPEST); length > 0; length -= 1) {
    const menu = menuByPath(`/${parts.slice(0, length).join('/')}`);
    if (menu === undefined) continue;
    const rest = parts.slice(length);
    if (rest.length > 1) throw errors.noSuchMenu(rest[0] ?? '');
    return { menu, item: rest[0] };
  }
  const unknown = parts.findIndex((_, index) => !directories.has(`/${parts.slice(0, index + 1).join('/')}`));
  throw errors.noSuchMenu(parts[unknown < 0 ? parts.length - 1 : unknown] ?? '');
}

/** Number of parts of the longest path of a menu. */
const DEEPEST = Math.max(...registry.map(({ path }) => path.split('/').length - 1));

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw errors.badRequest(`broken escape in the URL: ${part}`);
  }
}
