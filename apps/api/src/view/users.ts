import { datetimeText } from '@tollway/schema';
import type { Users } from '../auth/users.js';
import { rowIdText } from '../snapshot/snapshot.js';
import { ArrayRows, type View, yesNo } from './rows.js';

/** The users, without anything about their passwords. */
export function usersView(users: Users): View {
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
