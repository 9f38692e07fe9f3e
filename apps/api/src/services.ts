import type { Readable } from 'node:stream';
import type { Menu } from '@tollway/schema';
import type { QueueAccounting } from './accounting/queue-days.js';
import type { Authenticator, Principal } from './auth/authenticator.js';
import type { Sessions } from './auth/sessions.js';
import type { Users } from './auth/users.js';
import type { Arguments } from './config/content.js';
import type { Editor } from './config/editor.js';
import type { ConfigStore } from './config/store.js';
import type { Database } from './database/client.js';
import type { ApiError } from './errors.js';
import type { RouterLog } from './logging/router-log.js';
import type { FairShare } from './scheduling/fair-share.js';
import type { UserSemaphore } from './scheduling/user-semaphore.js';
import type { LiveState } from './state/live-state.js';
import type { RestRow, View } from './view/rows.js';

/** What the commands work with. */
export interface Services {
  readonly db: Database;
  readonly store: ConfigStore;
  readonly editor: Editor;
  readonly live: LiveState;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly authenticator: Authenticator;
  readonly log: RouterLog;
  readonly views: ReadonlyMap<string, View>;
  /** What menus do by themselves, by path. */
  readonly commands: ReadonlyMap<string, MenuCommands>;
  readonly accounting: QueueAccounting;
  /** Lists that are being sent: each holds a reading of the data plane until it has been taken. */
  readonly lists: UserSemaphore;
  /** Packet traces that run. */
  readonly traces: FairShare;
}

/** A command of a menu being run. */
export interface Call {
  readonly services: Services;
  readonly menu: Menu;
  readonly args: Arguments;
  readonly principal: Principal;
  /** Aborted when the client goes away or the time limit is over. */
  readonly signal: AbortSignal;
}

/** What a command answers: rows, as a list or a stream of its JSON, or data of its end (`ret`), or nothing (`[]`). */
export type Answer = readonly RestRow[] | Readable | Readonly<Record<string, string>>;

export const NOTHING: Answer = [];

/** Carries out a command. */
export type Handler = (call: Call) => Promise<Answer>;

/** Answer of a command about an item that is not there. */
type Missing = (item: string) => ApiError;

/** Items of the data plane, as far as they are there. */
export interface DynamicItems {
  readonly count: number;
  /** Removes them. */
  remove(): Promise<unknown>;
}

/** Rows of a menu that the data plane has, beside those of the configuration or in their place. */
export interface DynamicRows {
  /** Those of the items that are there. @throws ApiError (`missing`) for what names none */
  find(services: Services, items: readonly string[], missing: Missing): Promise<DynamicItems>;
  /** Whether arguments of `add` ask for a row of the data plane. */
  asked?(args: Arguments): boolean;
  /** Adds rows, all of them or none. Returns their `.id`s. */
  add?(services: Services, menu: Menu, list: readonly Arguments[]): Promise<string[]>;
  /** @throws ApiError for arguments of `set` that no stored row can have */
  refuse?(args: Arguments): void;
}

/** Rows that are not of the configuration: the menu changes them itself. */
interface OwnRows {
  /** Returns the `.id` of the new row. */
  add(call: Call): Promise<string>;
  set(call: Call, items: readonly string[], changes: Arguments, missing: Missing): Promise<void>;
  remove(call: Call, items: readonly string[], missing: Missing): Promise<void>;
}

/** What a menu does by itself, beside edits of configuration rows. */
export interface MenuCommands {
  /** A menu of kind `command` being run. */
  readonly run?: Handler;
  /** Commands by name. */
  readonly commands?: Readonly<Record<string, Handler>>;
  readonly dynamic?: DynamicRows;
  readonly own?: OwnRows;
}
