import { datetimeText } from '@tollway/schema';
import type { Users } from '../auth/users.js';
import { type FieldError, fieldError, type ProposedRow } from '../config/proposed-row.js';
import { addUser, removeUsers, setUsers } from '../rest/commands/users.js';
import { rowIdText } from '../snapshot/snapshot.js';
import { ArrayRows, type View, yesNo } from '../view/rows.js';
import type { MenuModule } from './module.js';

/** `/user`. That names are unique is checked where users are stored. */
function checkUser({ values }: ProposedRow): FieldError | undefined {
  // RFC 7617 §2: Basic authentication takes what is before the first colon as the name.
  if (!values.name?.includes(':')) return undefined;
  return fieldError('name', `value of name: ${values.name} holds a colon; give a login name without one`);
}

/** The users, without anything about their passwords. */
function usersView(users: Users): View {
  return async () =>
    new ArrayRows(
      users.list().map((user) => ({
        '.id': rowIdText(user.id),
        name: user.name,
        group: user.group,
        ...(user.lastLoggedIn !== undefined && { 'last-logged-in': datetimeText(user.lastLoggedIn.getTime()) }),
        disabled: yesNo(user.disabled),
        ...(user.comment !== '' && { comment: user.comment }),
      })),
    );
}

export const user: MenuModule = {
  path: '/user',
  check: checkUser,
  view: (_, { users }) => usersView(users),
  own: {
    add: ({ services, principal, menu, args }) => addUser(services, principal, menu, args),
    set: ({ services, principal, menu }, items, changes, notFound) =>
      setUsers(services, principal, menu, items, changes, notFound),
    remove: ({ services, principal }, items, notFound) => removeUsers(services, principal, items, notFound),
  },
};
