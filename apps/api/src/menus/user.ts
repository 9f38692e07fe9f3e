import { datetimeText, type Menu } from '@tollway/schema';
import type { Principal } from '../auth/authenticator.js';
import { refusePassword } from '../auth/passwords.js';
import { groups, type User, type UserChange, type UserContent, type Users } from '../auth/users.js';
import { differences } from '../config/change-summary.js';
import { type Arguments, verifiedContent } from '../config/content.js';
import { type FieldError, fieldError, type ProposedRow } from '../config/proposed-row.js';
import { authorText, confirmed, SYSTEM } from '../config/revision-storage.js';
import { type RowContent, verifyAdd, verifySet } from '../config/verify.js';
import { type ApiError, errors } from '../errors.js';
import { authorOf } from '../rest/author.js';
import { Mutex } from '../scheduling/mutex.js';
import type { Services } from '../services.js';
import { type ConfigSnapshot, parseRowId, type Row, rowIdText } from '../snapshot/snapshot.js';
import { ArrayRows, type View, yesNo } from '../view/rows.js';
import type { MenuModule } from './module.js';

/** `/user`: users are rows of a separate table, outside of the configuration. */

/** Uniqueness of names is checked when users are stored. */
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

/** Serialises changes: the result of a check must still be valid when the change is stored. */
const oneAtATime = new Mutex();
/** Users reference no other rows. */
const NO_CONFIGURATION: ConfigSnapshot = new Map();
/** Placeholder for the unknown present password where one is required. */
const UNCHANGED_PASSWORD = { password: 'unchanged' };

/** Returns the `.id` of the new user. */
function addUser(services: Services, by: Principal, menu: Menu, args: Arguments): Promise<string> {
  return oneAtATime.run(async () => {
    const content = verifiedContent(verifyAdd(services.store.checks, menu, args, NO_CONFIGURATION));
    refuseTakenName(services, content.values.name);
    refuseWeak(content.values.password);
    const added = userContent(content);
    const [user] = await store(services, by, [
      { change: { do: 'add', content: added }, detail: `add user ${added.name} (${added.group})` },
    ]);
    return rowIdText(user?.id ?? 0);
  });
}

function setUsers(
  services: Services,
  by: Principal,
  menu: Menu,
  items: readonly string[],
  args: Arguments,
  notFound: (item: string) => ApiError,
): Promise<void> {
  return oneAtATime.run(async () => {
    const changes = items.map((item): { user: User; before: Row; content: UserContent } => {
      const user = findUser(services, item, notFound);
      const { name, group, disabled, comment } = user;
      const before = { id: user.id, values: { name, group }, disabled, comment };
      const row = { id: user.id, values: { name, group, ...UNCHANGED_PASSWORD }, disabled, comment };
      const content = userContent(verifiedContent(verifySet(services.store.checks, menu, row, args, NO_CONFIGURATION)));
      if (Object.hasOwn(args, 'password')) {
        refuseWeak(content.password);
        return { user, before, content };
      }
      const { password: _password, ...rest } = content;
      return { user, before, content: rest };
    });
    const names = new Set<string>();
    for (const { user, content } of changes) {
      const skeleton = skeletonOf(content.name);
      if (names.has(skeleton)) throw nameTaken();
      names.add(skeleton);
      // The check of names does not apply to an unchanged name.
      if (content.name !== user.name) refuseTakenName(services, content.name, user.id);
    }
    const losing = new Set(
      changes.flatMap(({ user, content }) => (content.group === 'full' && !content.disabled ? [] : [user.id])),
    );
    const regrouped = changes.some(({ user, content }) => user.group === 'full' && content.group !== 'full');
    const property = regrouped ? 'group' : 'disabled';
    refuseWithoutFullUser(services, losing, 'disabled or moved to another group', property);
    await store(
      services,
      by,
      changes.map(({ user: { id }, before, content }) => {
        const changed = differences(menu, before, rowOf(id, content));
        const detail = `set user ${before.values.name}${changed === '' ? '' : `: ${changed}`}`;
        return { change: { do: 'set', id, content }, detail };
      }),
    );
    for (const { user, content } of changes) {
      if (content.password !== undefined || content.disabled) await services.sessions.endAllOf(user.id, by.session);
    }
  });
}

/**
 * Changes the password of the user who makes the request. @throws ApiError naming `property` for a password that is
 * easy to guess.
 */
export function setPassword(services: Services, by: Principal, password: string, property: string): Promise<void> {
  return oneAtATime.run(async () => {
    refuseWeak(password, property);
    const user = services.users.byId(by.userId);
    if (user === undefined) throw errors.unauthorized();
    const { name, group, disabled, comment } = user;
    const content = { name, group, disabled, comment, password };
    await store(services, by, [
      { change: { do: 'set', id: user.id, content }, detail: `set user ${name}: password changed` },
    ]);
    await services.sessions.endAllOf(user.id, by.session);
  });
}

function removeUsers(
  services: Services,
  by: Principal,
  items: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<void> {
  return oneAtATime.run(async () => {
    const users = new Map(items.map((item) => findUser(services, item, notFound)).map((user) => [user.id, user]));
    refuseWithoutFullUser(services, new Set(users.keys()), 'removed');
    const removals = [...users.values()].map(({ id, name }) => ({
      change: { do: 'remove', id } as const,
      detail: `remove user ${name}`,
    }));
    await store(services, by, removals);
    for (const id of users.keys()) await services.sessions.endAllOf(id);
  });
}

function findUser({ users }: Services, item: string, notFound: (item: string) => ApiError): User {
  const id = parseRowId(item);
  const user = id === undefined ? users.byName(item) : users.byId(id);
  if (user === undefined) throw notFound(item);
  return user;
}

/** A user as a row, for descriptions of changes. It does not contain the password itself. */
const rowOf = (id: number, { name, group, disabled, comment, password }: UserContent): Row => ({
  id,
  values: { name, group, ...(password !== undefined && { password: 'changed' }) },
  disabled,
  comment,
});

function userContent({ values, disabled, comment }: RowContent): UserContent {
  return {
    name: values.name ?? '',
    group: groups.find((group) => group === values.group) ?? 'read',
    disabled,
    comment,
    ...(values.password !== undefined && { password: values.password }),
  };
}

function refuseWeak(password: string | undefined, property = 'password'): void {
  const refused = password === undefined ? undefined : refusePassword(password);
  if (refused !== undefined) throw errors.badProperty(property, refused.replace(/^password/, property));
}

const nameTaken = (): ApiError =>
  errors.failure(
    'user with the same name already exists: name must be unique, also in another case or with letters that look alike',
    'name',
  );

function refuseTakenName({ users }: Services, name: string | undefined, except?: number): void {
  const skeleton = skeletonOf(name ?? '');
  if (skeleton === skeletonOf(SYSTEM.name)) {
    const why = `is what the log and the history call the router itself: choose another name`;
    throw errors.badProperty('name', `value of name: ${name} ${why}`);
  }
  if (users.list().some((user) => user.id !== except && skeletonOf(user.name) === skeleton)) throw nameTaken();
}

/** The skeleton of a name: in lower case, with letters and digits that look alike replaced by the same character. */
const skeletonOf = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[i1|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');

/** Refuses changes that leave no user with full rights. Users whose ids are in `losing` lose these rights. */
function refuseWithoutFullUser(
  { users }: Services,
  losing: ReadonlySet<number>,
  become: string,
  property?: string,
): void {
  const full = users.fullUsers();
  if (!full.some((user) => losing.has(user.id)) || full.some((user) => !losing.has(user.id))) return;
  throw errors.failure(`the last user of group full can not be ${become}`, property);
}

/** A change, and its text for the log and the audit. */
interface Described {
  readonly change: UserChange;
  readonly detail: string;
}

/** Stores changes with their audit entries, all or none, and logs them. */
async function store(
  { users, log }: Services,
  by: Principal,
  described: readonly Described[],
): Promise<readonly User[]> {
  const author = confirmed(authorOf(by));
  const notes = described.map(({ detail }) => ({
    user: author.name,
    address: author.address,
    action: 'user',
    detail: `${detail} via ${author.via}`,
  }));
  const stored = await users.change(
    described.map(({ change }) => change),
    notes,
    author.confirm,
  );
  for (const { detail } of described) log.add('system,info,account', `${detail} by ${authorText(author)}`);
  return stored;
}

export const user: MenuModule = {
  path: '/user',
  check: checkUser,
  view: (_, { users }) => usersView(users),
  externalRows: {
    add: ({ services, principal, menu, args }) => addUser(services, principal, menu, args),
    set: ({ services, principal, menu }, items, changes, notFound) =>
      setUsers(services, principal, menu, items, changes, notFound),
    remove: ({ services, principal }, items, notFound) => removeUsers(services, principal, items, notFound),
  },
};
