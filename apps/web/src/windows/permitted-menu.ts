/** Commands that the group of a user may use: commands that the router would refuse are not offered. */
import { allows, type Menu, menuByPath } from '@tollway/schema';

/** Menus restricted to permitted commands, by group. Cached, so that the objects are stable and cause no rendering. */
const permittedMenus = new Map<string, Map<Menu, Menu>>();

/** The menu of a path with the commands that a group may use. */
export function permittedMenu(path: string, userGroup: string): Menu | undefined {
  const menu = menuByPath(path);
  if (menu === undefined) return undefined;
  const commands = [...menu.commands].filter(([, { permission }]) => allows(userGroup, permission));
  if (commands.length === menu.commands.size) return menu;
  const ofGroup = permittedMenus.get(userGroup) ?? new Map<Menu, Menu>();
  permittedMenus.set(userGroup, ofGroup);
  const part = ofGroup.get(menu) ?? { ...menu, commands: new Map(commands) };
  ofGroup.set(menu, part);
  return part;
}
