/** Commands that the group of a user may use: commands that the router would refuse are not offered. */
import { allows, type Menu } from '@tollway/schema';
import { useSession } from '../api/session.ts';
import { addsTo } from '../windows/window-definitions.ts';

/** Menus restricted to permitted commands, by group. Cached, so that the objects are stable and cause no rendering. */
const permittedMenus = new Map<string, Map<Menu, Menu>>();

/** A menu with the commands that a group may use. */
export function permitted(menu: Menu, userGroup: string): Menu {
  const commands = [...menu.commands].filter(([, { permission }]) => allows(userGroup, permission));
  if (commands.length === menu.commands.size) return menu;
  const ofGroup = permittedMenus.get(userGroup) ?? new Map<Menu, Menu>();
  permittedMenus.set(userGroup, ofGroup);
  const part = ofGroup.get(menu) ?? { ...menu, commands: new Map(commands) };
  ofGroup.set(menu, part);
  return part;
}

/** Whether a group can do anything in a window. */
export function mayOpen(address: string, userGroup: string): boolean {
  const into = addsTo(address);
  return into === undefined || permitted(into, userGroup).commands.has('add');
}

/** Group of the user, including a user who must log in again. */
export function useUserGroup(): string {
  return (
    useSession((session) =>
      session.phase === 'in' ? session.group : session.phase === 'out' ? session.expired?.group : undefined,
    ) ?? 'read'
  );
}
