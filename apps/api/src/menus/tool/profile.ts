import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs } from '@tollway/schema';
import { AgentGone } from '../../agent/messages.js';
import { type ApiError, errors } from '../../errors.js';
import type { Answer, CommandCall } from '../../services.js';
import { type ProfileReading, profileRows, readProfile } from '../../state/profile.js';
import type { MenuModule } from '../module.js';

/** `/tool/profile`: how the cores spent their time during `duration`. */
async function profileCommand({ services, values, signal }: CommandCall): Promise<Answer> {
  const { cpu = 'total', duration = '1s' } = values;
  const ms = durationMs(duration) ?? 1000;
  const before = await readProfile(services.live);
  // Checked before the measurement, which may take a minute.
  if (before !== undefined && isNumber(cpu) && !before.coreTimes.some((core) => String(core.cpu) === cpu)) {
    throw noWorker(cpu, before);
  }
  await sleep(ms, undefined, { signal });
  const after = await readProfile(services.live);
  if (before === undefined || after === undefined) throw new AgentGone();
  const rows = profileRows(before, after, cpu);
  if (rows.length === 0 && isNumber(cpu)) throw noWorker(cpu, after);
  return rows.map(({ name, cpu: core, usage }) => ({ name, cpu: core, usage }));
}

const isNumber = (cpu: string): boolean => cpu !== 'total' && cpu !== 'all';

function noWorker(cpu: string, { stats }: ProfileReading): ApiError {
  const cores = stats.cores.map((core) => `${core.cpu}, `).join('');
  return errors.badProperty('cpu', `value of cpu: no worker may run on core ${cpu}; it accepts ${cores}total or all`);
}

export const toolProfile: MenuModule = {
  path: '/tool/profile',
  run: profileCommand,
};
