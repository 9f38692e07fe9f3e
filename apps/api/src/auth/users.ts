import { record } from '../database/audit.js';
import type { Database } from '../database/client.js';
import { unlessFault } from '../database/fault.js';
import { inTransaction } from '../database/transaction.js';
import type { DatabaseWatch } from '../database/watch.js';
import { errors } from '../errors.js';
import type { KeptUsers } from '../generations/rows-file.js';
import { Mutex } from '../scheduling/mutex.js';
import { hashPassword, verifyPassword } from './passwords.js';

export const groups = ['full', 'write', 'read'] as const;
export type Group = (typeof groups)[number];

export interface User {
  readonly id: number;
  readonly name: string;
  readonly group: Group;
  readonly disabled: boolean;
  readonly comment: string;
  readonly hasPassword: boolean;
  readonly lastLoggedIn: Date | undefined;
}

export interface UserContent {
  readonly name: string;
  readonly group: Group;
  readonly disabled: boolean;
  readonly comment: string;
  /** Password; absent: unchanged. */
  readonly password?: string;
}

/** A change of the users. */
export type UserChange =
  | { readonly do: 'add'; readonly content: UserContent }
  | { readonly do: 'set'; readonly id: number; readonly content: UserContent }
  | { readonly do: 'remove'; readonly id: number };

/** Entry of the audit about a change of a user. */
interface AuditNote {
  /** Author of the change. */
  readonly user: string;
  readonly address: string;
  readonly action: string;
  readonly detail: string;
}

/** A user as the database has it, with the hash of the password. */
interface StoredUser extends User {
  readonly passwordHash: string | undefined;
}

export const FIRST_USER = 'admin';

/** The users. All of them are kept in memory and in the database. */
export class Users {
  readonly #db: Database;
  readonly #writer: Database;
  readonly #watch: DatabaseWatch | undefined;
  readonly #oneAtATime = new Mutex();
  #closed = false;
  readonly #users = new Map<number, StoredUser>();
  readonly #listeners: ((id: number) => void)[] = [];
  /** Number of changes of each user's password since the start. */
  readonly #passwordVersions = new Map<number, number>();

  /** Number of changes of users, by the database's count. */
  #changes = 0;

  private constructor(db: Database, writer: Database, watch: DatabaseWatch | undefined) {
    this.#db = db;
    this.#writer = writer;
    this.#watch = watch;
  }

  /**
   * Reads the users; an empty table gets `admin` without a password.
   * @param writer a client of their own, see {@link inTransaction}
   */
  static async open(db: Database, writer: Database, watch?: DatabaseWatch): Promise<Users> {
    const users = new Users(db, writer, watch);
    if ((await db.user.count()) === 0) await db.user.create({ data: { name: FIRST_USER, group: 'full' } });
    for (const row of await db.user.findMany({ orderBy: { id: 'asc' } })) users.#remember(row);
    await users.#count();
    return users;
  }

  /**
   * Registers a listener that is called when a user was added or removed, or when rights or the password have changed.
   */
  onChange(listener: (id: number) => void): void {
    this.#listeners.push(listener);
  }

  list(): User[] {
    return [...this.#users.values()];
  }

  /** All users, in the form in which they are kept beside the database. */
  kept(): KeptUsers {
    const users = [...this.#users.values()].map(({ id, name, group, disabled, comment, passwordHash }) => ({
      id,
      name,
      group,
      disabled,
      comment,
      passwordHash: passwordHash ?? null,
    }));
    return { users, changes: this.#changes };
  }

  byId(id: number): User | undefined {
    return this.#users.get(id);
  }

  byName(name: string): User | undefined {
    return [...this.#users.values()].find((user) => user.name === name);
  }

  /** True until a user of group full has a password. */
  get needsSetup(): boolean {
    return this.fullUsers().length === 0;
  }

  /** Users with full rights that can log in. */
  fullUsers(): User[] {
    return this.list().filter((user) => user.group === 'full' && user.hasPassword && !user.disabled);
  }

  async verify(name: string, password: string): Promise<User | undefined> {
    const asked = [...this.#users.values()].find((user) => user.name === name);
    const matches = await verifyPassword(asked?.passwordHash, password);
    // The password may have been changed, or the user disabled or removed, while it was being hashed.
    const user = asked && this.#users.get(asked.id);
    const unchanged = user !== undefined && user.passwordHash === asked?.passwordHash;
    return matches && unchanged && !user.disabled ? user : undefined;
  }

  /** Version of a user's password: the number of its changes since this process started. */
  passwordVersion(id: number): number {
    return this.#passwordVersions.get(id) ?? 0;
  }

  /** Refuses further changes. Resolves when the running one has been passed to all listeners, or has failed. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#oneAtATime.run(async () => undefined);
  }

  /**
   * Stores changes together with their audit entries, all or none. Returns the users that were added or set, in order.
   * @param confirm throws when the author has lost the right to change users
   * @throws DatabaseFault when the database is not the one that was opened, or cannot be written
   */
  change(changes: readonly UserChange[], notes: readonly AuditNote[], confirm?: () => void): Promise<readonly User[]> {
    return this.#oneAtATime.run(async () => {
      if (this.#closed) throw errors.stopping();
      const rows: UserRow[] = [];
      const steps = await Promise.all(changes.map(withHash));
      this.#watch?.refuseIfFaulty();
      confirm?.();
      const writer = this.#writer;
      await inTransaction(writer, async () => {
        for (const step of steps) {
          if (step.do === 'add') rows.push(await writer.user.create({ data: step.data }));
          else if (step.do === 'set') rows.push(await writer.user.update({ where: { id: step.id }, data: step.data }));
          else await writer.user.delete({ where: { id: step.id } });
        }
        for (const note of notes) await record(writer, note);
      });
      const stored = rows.map((row) => this.#remember(row));
      for (const step of steps) if (step.do === 'remove') this.#users.delete(step.id);
      for (const step of steps) {
        if (step.do === 'set' && step.data.passwordHash !== undefined) {
          this.#passwordVersions.set(step.id, this.passwordVersion(step.id) + 1);
        }
      }
      await this.#count();
      for (const id of new Set([...stored.map((user) => user.id), ...steps.flatMap(idOf)])) {
        for (const listener of this.#listeners) listener(id);
      }
      return stored;
    });
  }

  async loggedIn(id: number): Promise<void> {
    const row = await this.#db.user.update({ where: { id }, data: { lastLoggedIn: new Date() } }).catch(unlessFault);
    if (row !== undefined) this.#remember(row);
  }

  /** Reads the count. On failure it stays lower, so that no copy counts as outdated because of it. */
  async #count(): Promise<void> {
    const row = await this.#db.userChanges.findFirst().catch(unlessFault);
    if (row) this.#changes = row.count;
  }

  #remember(row: UserRow): User {
    const user: StoredUser = {
      id: row.id,
      name: row.name,
      group: groups.find((group) => group === row.group) ?? 'read',
      disabled: row.disabled,
      comment: row.comment ?? '',
      passwordHash: row.passwordHash ?? undefined,
      hasPassword: row.passwordHash !== null,
      lastLoggedIn: row.lastLoggedIn ?? undefined,
    };
    this.#users.set(row.id, user);
    return user;
  }
}

/** A user as the database holds one. */
interface UserRow {
  readonly id: number;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly group: string;
  readonly disabled: boolean;
  readonly comment: string | null;
  readonly lastLoggedIn: Date | null;
}

const idOf = (change: { readonly id?: number }): readonly number[] => (change.id === undefined ? [] : [change.id]);

/** A change with the hash of its password. */
async function withHash(change: UserChange) {
  if (change.do === 'remove') return change;
  const { password, ...data } = change.content;
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return change.do === 'add'
    ? { do: 'add' as const, data: { ...data, passwordHash: passwordHash ?? null } }
    : { do: 'set' as const, id: change.id, data: { ...data, passwordHash } };
}
