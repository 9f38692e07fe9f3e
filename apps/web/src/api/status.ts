/** State of the router in the header: identity, load, uptime, and the age of these values. */
import type { Status as RouterStatus } from '@tollway/protocol/live/status';
import { create } from 'zustand';
import { live } from './live.ts';
import { updateUser } from './session.ts';

interface Status {
  readonly identity: string;
  /** Mean load of all cores, percent; undefined while unknown. */
  readonly cpuLoad: string | undefined;
  /** RouterOS duration text. */
  readonly uptime: string | undefined;
  /** Bytes. */
  readonly freeMemory: string | undefined;
  /** Bytes. */
  readonly totalMemory: string | undefined;
  /** State of the packet engine: `synced`, or why it does not run the newest configuration. */
  readonly engine: string;
  readonly revision: string | undefined;
  /** Alarms, a sentence each. */
  readonly alarms: readonly string[];
}

/** State of the connection; `logged-out` when it ended with the session. */
export type Liveness = 'connecting' | 'live' | 'late' | 'lost' | 'engine-down' | 'refused' | 'logged-out';

export const useStatus = create<Status>(() => ({
  identity: '',
  cpuLoad: undefined,
  uptime: undefined,
  freeMemory: undefined,
  totalMemory: undefined,
  engine: 'synced',
  revision: undefined,
  alarms: [],
}));

/** Seconds without data after which the connection counts as late and as lost. */
const LATE_S = 3;
const LOST_S = 10;

/** State of a connection. `ageS`: time since the last message, s. */
export function liveness(open: boolean, everOpen: boolean, ageS: number, engine: string): Liveness {
  if (!everOpen) return 'connecting';
  if (ageS >= LOST_S) return 'lost';
  if (!open || ageS >= LATE_S) return 'late';
  if (engine === 'down') return 'engine-down';
  return engine === 'refused' ? 'refused' : 'live';
}

/** The status in a message, in the form in which it is shown. */
export const toStatus = (message: RouterStatus): Status => ({
  identity: message.identity,
  cpuLoad: String(message.cpuLoad),
  uptime: message.uptime,
  freeMemory: String(message.freeMemory),
  totalMemory: String(message.totalMemory),
  revision: String(message.revision),
  alarms: message.alarms,
  engine: message.agent.connected ? message.agent.state : 'down',
});

let following = false;

/** Starts the live connection and follows the status. */
export function connect(): void {
  if (!following) {
    following = true;
    // Remains for the lifetime of the page: it survives reconnects and logins.
    live.subscribe({ topic: 'status' }, (message) => {
      if (message.op !== 'status') return;
      useStatus.setState(toStatus(message));
      updateUser(message.user);
    });
  }
  live.open();
}

/** Ends the live connection, e.g. after logging out. */
export function disconnect(): void {
  live.close();
}
