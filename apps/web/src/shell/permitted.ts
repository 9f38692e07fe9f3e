/** What the group of a user may do with menus and windows. */
import { allows, type MenuOutline } from '@tollway/schema';
import { useSession } from '../api/session.ts';
import { addsTo } from '../windows/window-definitions.ts';

/** Whether a group may add items to a menu. */
export function mayAddTo({ addPermission }: MenuOutline, userGroup: string): boolean {
  return addPermission !== undefined && allows(userGroup, addPermission);
}

/** Whether a group can do anything in a window. */
export function mayOpen(address: string, userGroup: string): boolean {
  const into = addsTo(address);
  return into === undefined || mayAddTo(into, userGroup);
}

/** Group of the user, including a user who must log in again. */
export function useUserGroup(): string {
  return (
    useSession((session) =>
      session.phase === 'in' ? session.group : session.phase === 'out' ? session.expired?.group : undefined,
    ) ?? 'read'
  );
}
