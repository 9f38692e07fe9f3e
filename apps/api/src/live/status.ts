import { freemem, totalmem, uptime } from 'node:os';
import { durationText } from '@tollway/schema';
import type { ConfigStore } from '../config/store.js';
import type { Alarms } from '../state/alarms.js';
import type { LiveState } from '../state/live-state.js';
import type { Processor } from '../state/processor.js';
import { VERSION } from '../version.js';

export interface Status {
  /** The agent is there, and how it stands to the newest revision. */
  readonly agent: { readonly connected: boolean; readonly state: string };
  readonly revision: number;
  /** What somebody must look at, a sentence each. */
  readonly alarms: readonly string[];
  readonly identity: string;
  /** Percent. */
  readonly cpuLoad: number;
  readonly uptime: string;
  readonly freeMemory: number;
  readonly totalMemory: number;
  readonly version: string;
}

/** What the bar of the browser shows. */
export async function takeStatus(
  store: ConfigStore,
  live: LiveState,
  processor: Processor,
  identity: string,
  alarms: Alarms,
): Promise<Status> {
  return {
    agent: { connected: live.connected, state: store.syncState },
    revision: store.revision,
    alarms: alarms.all(),
    identity,
    cpuLoad: await processor.load(),
    uptime: durationText(Math.floor(uptime()) * 1000),
    freeMemory: freemem(),
    totalMemory: totalmem(),
    version: VERSION,
  };
}
