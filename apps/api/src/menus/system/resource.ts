import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, machine, totalmem, uptime } from 'node:os';
import { durationText } from '@tollway/schema';
import type { CpuLoad } from '../../state/cpu-load.js';
import type { LiveState } from '../../state/live-state.js';
import { handedOver } from '../../state/profile.js';
import { VERSION } from '../../version.js';
import { ArrayRows, type View } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

/** Clock frequency of the first core from `/proc/cpuinfo` (x86), MHz; 0 where it is not given. */
export function clockOf(cpuinfo: string): number {
  const mhz = Number(/^cpu MHz\s*:\s*([0-9.]+)$/m.exec(cpuinfo)?.[1]);
  return Number.isFinite(mhz) ? Math.round(mhz) : 0;
}

/** Properties of the machine that the router runs on. */
function resourceView(cpuLoad: CpuLoad, dataDir: string, live: LiveState): View {
  return async (maxAgeMs) => {
    const [stats, disk, load, cpuinfo] = await Promise.all([
      live.stats(maxAgeMs),
      statfs(dataDir),
      cpuLoad.load(),
      readFile('/proc/cpuinfo', 'utf8').catch(() => ''),
    ]);
    const cores = cpus();
    // Without frequency scaling, as in most virtual machines, Node reports 0.
    const mhz = cores[0]?.speed || clockOf(cpuinfo);
    return new ArrayRows([
      {
        uptime: durationText(Math.floor(uptime()) * 1000),
        version: VERSION,
        'free-memory': String(freemem()),
        'total-memory': String(totalmem()),
        cpu: cores[0]?.model.trim() ?? machine(),
        'cpu-count': String(cores.length),
        ...(mhz > 0 && { 'cpu-frequency': String(mhz) }),
        'cpu-load': String(load),
        'free-hdd-space': String(disk.bavail * disk.bsize),
        'total-hdd-space': String(disk.blocks * disk.bsize),
        'architecture-name': machine(),
        'board-name': `${machine()} server`,
        platform: 'Tollway',
        ...(stats !== undefined && { 'handed-over-packets': String(handedOver(stats)) }),
      },
    ]);
  };
}

export const systemResource: MenuModule = {
  path: '/system/resource',
  view: (_, { cpuLoad, dataDir, live }) => resourceView(cpuLoad, dataDir, live),
};
