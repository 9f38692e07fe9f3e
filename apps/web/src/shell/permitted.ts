/** What the group of a user may do: commands that the router would refuse are not offered. */
import type { Menu } from '@tollway/schema';
import { useSession } from '../api/session.ts';
import { addsTo } from '../windows/groups.ts';

/** Menus without their commands; always the same one for a menu, so that nothing is drawn anew. */
const barred = new Map<Menu, Menu>();

/** A menu with the commands that a group may use: `full` all, `write` all but those of users, `read` none. */
export function permitted(menu: Menu, group: string): Menu {
  if (group === 'full' || menu.path === '/tool/profile') return menu;
  if (group === 'write' && menu.path !== '/user') return menu;
  const without = barred.get(menu) ?? { ...menu, commands: [] };
  barred.set(menu, without);
  return without;
}

/** Whether a group can do anything in a window. */
export function mayOpen(address: string, group: string): boolean {
  const into = addsTo(address);
  return into === undefined || permitted(into, group).commands.includes('add');
}

/** Group of the user, also of one who is to log in again over what is open. */
export function useGroup(): string {
  return (
    useSession((session) =>
      session.phase === 'in' ? session.group : session.phase === 'out' ? session.expired?.group : undefined,
    ) ?? 'read'
  );
}
