import { statfs } from 'node:fs/promises';
import { cpus, freemem, machine, totalmem, uptime } from 'node:os';
import { durationText } from '@tollway/schema';
import type { Processor } from '../state/processor.js';
import { VERSION } from '../version.js';
import { ArrayRows, type View } from './rows.js';

/** Figures of the box that the router runs on. */
export function resourceView(processor: Processor, dataDir: string): View {
  return async () => {
    const [disk, load] = await Promise.all([statfs(dataDir), processor.load()]);
    const cores = cpus();
    return new ArrayRows([
      {
        uptime: durationText(Math.floor(uptime()) * 1000),
        version: VERSION,
        'free-memory': String(freemem()),
        'total-memory': String(totalmem()),
        cpu: cores[0]?.model.trim() ?? machine(),
        'cpu-count': String(cores.length),
        'cpu-frequency': String(cores[0]?.speed ?? 0),
        'cpu-load': String(load),
        'free-hdd-space': String(disk.bavail * disk.bsize),
        'total-hdd-space': String(disk.blocks * disk.bsize),
        'architecture-name': machine(),
        'board-name': `${machine()} server`,
        platform: 'Tollway',
      },
    ]);
  };
}
