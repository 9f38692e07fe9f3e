import type { Readable } from 'node:stream';
import type { Menu } from '@tollway/schema';
import type { QueueAccounting } from './accounting/queue-days.js';
import type { Authenticator, Principal } from './auth/authenticator.js';
import type { Sessions } from './auth/sessions.js';
import type { Users } from './auth/users.js';
import type { ArgumentValues } from './config/arguments.js';
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

/** Dependencies of commands. */
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
  /** Commands of the menus' modules, by path. */
  readonly commands: ReadonlyMap<string, MenuCommands>;
  readonly accounting: QueueAccounting;
  /** Limits long lists in transfer: each holds a reading of the data plane until it has been sent. */
  readonly lists: UserSemaphore;
  /** Limits running packet traces. */
  readonly traces: FairShare;
}

/** A call of a command. */
export interface Call {
  readonly services: Services;
  readonly menu: Menu;
  readonly args: Arguments;
  readonly principal: Principal;
  /** Aborted when the client disconnects or the time limit has passed. */
  readonly signal: AbortSignal;
}

/** A call of a command whose arguments have been parsed. */
export interface CommandCall extends Call {
  /**
   * Canonical texts of the arguments that the command declares, by name. Arguments that name rows are in `args` only.
   */
  readonly values: ArgumentValues;
}

/** Response of a command: rows as a list or a JSON stream, a result (`ret`), or nothing (`[]`). */
export type Answer = readonly RestRow[] | Readable | Readonly<Record<string, string>>;

export const NOTHING: Answer = [];

/** Carries out a command. */
export type Handler = (call: CommandCall) => Promise<Answer>;

/** Creates the error for an item that does not exist. */
type NotFound = (item: string) => ApiError;

/** Existing items of the data plane. */
export interface DynamicItems {
  readonly count: number;
  /** Removes the items. */
  remove(): Promise<unknown>;
}

/** Access to rows of the data plane, in addition to or instead of stored ones. */
export interface DynamicRows {
  /** Finds those of the items that exist. @throws ApiError (`notFound`) for an invalid name */
  find(services: Services, items: readonly string[], notFound: NotFound): Promise<DynamicItems>;
  /** Whether `add` with these arguments creates a dynamic row. */
  addsDynamic?(args: Arguments): boolean;
  /** Adds rows, all of them or none. Returns their `.id`s. */
  add?(services: Services, menu: Menu, list: readonly Arguments[]): Promise<string[]>;
  /** @throws ApiError for arguments of `set` that no stored row can have */
  refuse?(args: Arguments): void;
}

/** Rows that are kept outside of the configuration, such as users. The module of the menu changes them itself. */
interface ExternalRows {
  /** Returns the `.id` of the new row. */
  add(call: Call): Promise<string>;
  set(call: Call, items: readonly string[], changes: Arguments, notFound: NotFound): Promise<void>;
  remove(call: Call, items: readonly string[], notFound: NotFound): Promise<void>;
}

/** Commands of a menu beyond edits of configuration rows. */
export interface MenuCommands {
  /** Runs a menu of kind `command`. */
  readonly run?: Handler;
  /** Commands by name. */
  readonly commands?: Readonly<Record<string, Handler>>;
  readonly dynamic?: DynamicRows;
  readonly externalRows?: ExternalRows;
}
