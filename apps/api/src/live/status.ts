import { freemem, totalmem, uptime } from 'node:os';
import type { Status } from '@tollway/protocol/live/status';
import { durationText } from '@tollway/schema';
import type { ConfigStore } from '../config/store.js';
import type { Alarms } from '../state/alarms.js';
import type { CpuLoad } from '../state/cpu-load.js';
import type { LiveState } from '../state/live-state.js';
import { VERSION } from '../version.js';

/** Values of the status area in the header of the page. */
export async function readStatus(
  store: ConfigStore,
  live: LiveState,
  cpuLoad: CpuLoad,
  identity: string,
  alarms: Alarms,
): Promise<Status> {
  return {
    agent: { connected: live.connected, state: store.syncState },
    revision: store.revision,
    alarms: alarms.all(),
    identity,
    cpuLoad: await cpuLoad.load(),
    uptime: durationText(Math.floor(uptime()) * 1000),
    freeMemory: freemem(),
    totalMemory: totalmem(),
    version: VERSION,
  };
}
