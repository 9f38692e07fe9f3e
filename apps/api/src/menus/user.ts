import { checkUser } from '../config/checks/users.js';
import { addUser, removeUsers, setUsers } from '../rest/commands/users.js';
import { usersView } from '../view/users.js';
import type { MenuModule } from './module.js';

export const user: MenuModule = {
  path: '/user',
  check: checkUser,
  live: (_, { users }) => usersView(users),
  own: {
    add: ({ services, principal, menu, args }) => addUser(services, principal, menu, args),
    set: ({ services, principal, menu }, items, changes, missing) =>
      setUsers(services, principal, menu, items, changes, missing),
    remove: ({ services, principal }, items, missing) => removeUsers(services, principal, items, missing),
  },
};
