import type { Menu } from '@tollway/schema';

/** Title of the dialog of a new item. */
export function newTitle({ singular }: Pick<Menu, 'singular'>): string {
  return `New ${singular}`;
}
