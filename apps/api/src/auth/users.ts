import type { Database } from '../database/client.js';
import { unlessFault } from '../database/fault.js';
import type { KeptUsers } from '../generations/rows-file.js';
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
  /** Absent: stays as it is. */
  readonly password?: string;
}

interface Record extends User {
  readonly passwordHash: string | undefined;
}

export const FIRST_USER = 'admin';
/** Longest login name, characters. */
export const MAX_NAME = 64;

/** The people who may log in. All are in memory; the database is the record. */
export class Users {
  readonly #db: Database;
  readonly #records = new Map<number, Record>();
  readonly #listeners: ((id: number) => void)[] = [];
  /** How often the password of a user has changed since the start. */
  readonly #passwords = new Map<number, number>();

  /** How often they have been changed, by the database's count. */
  #changes = 0;

  private constructor(db: Database) {
    this.#db = db;
  }

  /** Reads the users; an empty table gets `admin` without a password. */
  static async open(db: Database): Promise<Users> {
    const users = new Users(db);
    if ((await db.user.count()) === 0) await db.user.create({ data: { name: FIRST_USER, group: 'full' } });
    for (const row of await db.user.findMany({ orderBy: { id: 'asc' } })) users.#remember(row);
    await users.#count();
    return users;
  }

  /** Called when a user was added or removed, or its rights or password changed. */
  onChange(listener: (id: number) => void): void {
    this.#listeners.push(listener);
  }

  list(): User[] {
    return [...this.#records.values()];
  }

  /** All of them as they are kept beside the database. */
  kept(): KeptUsers {
    const users = [...this.#records.values()].map(({ name, group, disabled, comment, passwordHash }) => ({
      name,
      group,
      disabled,
      comment,
      passwordHash: passwordHash ?? null,
    }));
    return { users, changes: this.#changes };
  }

  byId(id: number): User | undefined {
    return this.#records.get(id);
  }

  byName(name: string): User | undefined {
    return [...this.#records.values()].find((user) => user.name === name);
  }

  /** True until somebody who may do everything has a password. */
  get needsSetup(): boolean {
    return this.fullUsers().length === 0;
  }

  /** Those who may do everything and can log in. */
  fullUsers(): User[] {
    return this.list().filter((user) => user.group === 'full' && user.hasPassword && !user.disabled);
  }

  async verify(name: string, password: string): Promise<User | undefined> {
    const record = [...this.#records.values()].find((user) => user.name === name);
    const matches = await verifyPassword(record?.passwordHash, password);
    // The password may have been changed, or the user disabled or removed, while it was being hashed.
    const user = record && this.#records.get(record.id);
    const unchanged = user !== undefined && user.passwordHash === record?.passwordHash;
    return matches && unchanged && !user.disabled ? user : undefined;
  }

  /** Tells passwords of a user apart, as far as this process has seen them. */
  passwordNumber(id: number): number {
    return this.#passwords.get(id) ?? 0;
  }

  async add(content: UserContent): Promise<User> {
    const { password, ...data } = content;
    const passwordHash = password === undefined ? null : await hashPassword(password);
    const user = this.#remember(await this.#db.user.create({ data: { ...data, passwordHash } }));
    await this.#count();
    for (const listener of this.#listeners) listener(user.id);
    return user;
  }

  async set(id: number, content: UserContent): Promise<User> {
    const { password, ...data } = content;
    const passwordHash = password === undefined ? undefined : await hashPassword(password);
    const row = await this.#db.user.update({ where: { id }, data: { ...data, passwordHash } });
    const user = this.#remember(row);
    if (passwordHash !== undefined) this.#passwords.set(id, this.passwordNumber(id) + 1);
    await this.#count();
    for (const listener of this.#listeners) listener(id);
    return user;
  }

  async remove(id: number): Promise<void> {
    await this.#db.user.delete({ where: { id } });
    this.#records.delete(id);
    await this.#count();
    for (const listener of this.#listeners) listener(id);
  }

  async loggedIn(id: number): Promise<void> {
    const row = await this.#db.user.update({ where: { id }, data: { lastLoggedIn: new Date() } }).catch(unlessFault);
    if (row !== undefined) this.#remember(row);
  }

  /** A count that cannot be read now stays behind, and nothing is taken for older by it. */
  async #count(): Promise<void> {
    const row = await this.#db.userChanges.findFirst().catch(unlessFault);
    if (row) this.#changes = row.count;
  }

  #remember(row: {
    id: number;
    name: string;
    passwordHash: string | null;
    group: string;
    disabled: boolean;
    comment: string | null;
    lastLoggedIn: Date | null;
  }): User {
    const record: Record = {
      id: row.id,
      name: row.name,
      group: groups.find((group) => group === row.group) ?? 'read',
      disabled: row.disabled,
      comment: row.comment ?? '',
      passwordHash: row.passwordHash ?? undefined,
      hasPassword: row.passwordHash !== null,
      lastLoggedIn: row.lastLoggedIn ?? undefined,
    };
    this.#records.set(row.id, record);
    return record;
  }
}
