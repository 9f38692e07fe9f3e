/** State of the router as the header shows it: identity, load, uptime, and how fresh all of it is. */
import { create } from 'zustand';
import { live } from './live.ts';
import { isObject } from './rest.ts';
import { followUser } from './session.ts';

export interface Status {
  readonly identity: string;
  /** Mean load of all cores, percent; undefined while unknown. */
  readonly cpuLoad: string | undefined;
  /** RouterOS duration text. */
  readonly uptime: string | undefined;
  /** Bytes. */
  readonly freeMemory: string | undefined;
  /** Bytes. */
  readonly totalMemory: string | undefined;
  /** How the packet engine stands: `synced`, or why it does not forward by the newest configuration. */
  readonly engine: string;
  readonly revision: string | undefined;
  /** What somebody must look at, a sentence each. */
  readonly alarms: readonly string[];
}

/** How the connection to the router stands; `logged-out` when it ended with the session. */
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

/** Judges a connection. `ageS`: seconds since the last message. */
export function liveness(open: boolean, everOpen: boolean, ageS: number, engine: string): Liveness {
  if (!everOpen) return 'connecting';
  if (ageS >= LOST_S) return 'lost';
  if (!open || ageS >= LATE_S) return 'late';
  if (engine === 'down') return 'engine-down';
  return engine === 'refused' ? 'refused' : 'live';
}

function word(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** The fields of a status message that are here, by the names the server uses. */
export function toStatus(message: Readonly<Record<string, unknown>>): Partial<Status> {
  const part: { -readonly [K in keyof Status]?: Status[K] } = {};
  const identity = word(message.identity);
  if (identity !== undefined) part.identity = identity;
  part.cpuLoad = word(message.cpuLoad);
  part.uptime = word(message.uptime);
  part.freeMemory = word(message.freeMemory);
  part.totalMemory = word(message.totalMemory);
  part.revision = word(message.revision);
  const { alarms } = message;
  part.alarms = Array.isArray(alarms) ? alarms.filter((text) => typeof text === 'string') : [];
  if (isObject(message.agent)) {
    const state = word(message.agent.state);
    part.engine = message.agent.connected === false ? 'down' : (state ?? 'synced');
  }
  return part;
}

let following = false;

/** Starts the live connection and follows the status. */
export function connect(): void {
  if (!following) {
    following = true;
    // Stays for the life of the page: it survives reconnects and logins.
    live.subscribe({ topic: 'status' }, (message) => {
      if (message.op !== 'status') return;
      useStatus.setState(toStatus(message));
      followUser(message.user);
    });
  }
  live.open();
}

/** Ends the live connection, e.g. after logging out. */
export function disconnect(): void {
  live.close();
}
