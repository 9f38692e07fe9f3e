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
import type { FairShare } from './scheduling/fair-share.js';
import type { Room } from './scheduling/room.js';
import type { LiveState } from './state/live-state.js';
import type { LogBuffer } from './state/log-buffer.js';
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
  readonly log: LogBuffer;
  readonly views: ReadonlyMap<string, View>;
  readonly accounting: QueueAccounting;
  /** Lists that are being sent: each holds a reading of the data plane until it has been taken. */
  readonly lists: Room;
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

/** Items of the data plane, as far as they are there. */
export interface DynamicItems {
  readonly count: number;
  /** Removes them. */
  remove(): Promise<unknown>;
}
