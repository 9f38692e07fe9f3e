import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs, propOf } from '@tollway/schema';
import { AgentGone } from '../../agent/messages.js';
import { textOf } from '../../config/content.js';
import { type ApiError, errors } from '../../errors.js';
import { checkArguments } from '../../rest/arguments.js';
import { projected, proplistOf } from '../../rest/listing.js';
import type { Answer, Call } from '../../services.js';
import { type ProfileReading, profileRows, readProfile } from '../../state/profile.js';
import type { MenuModule } from '../module.js';

/** `/tool/profile`: where the time of the cores went during `duration`. */
async function profileCommand({ services, menu, args, signal }: Call): Promise<Answer> {
  checkArguments(args, ['cpu', 'duration', 'once', '.proplist']);
  const names = proplistOf(args['.proplist']);
  const argument = (name: string): string => {
    const prop = propOf(menu, name);
    const text = args[name] === undefined ? (prop?.default ?? '') : textOf(name, args[name]);
    const parsed = prop?.kind.parse(text);
    if (parsed === undefined || !parsed.ok) {
      throw errors.badProperty(
        name,
        `value of ${name}: ${parsed?.error ?? 'unknown'}; it accepts ${prop?.kind.accepts}`,
      );
    }
    return parsed.value;
  };
  const cpu = argument('cpu');
  const ms = durationMs(argument('duration')) ?? 1000;
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
  return projected(
    rows.map(({ name, cpu: core, usage }) => ({ name, cpu: core, usage })),
    names,
  );
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
