import { missingElement } from '@tollway/schema';
import { AgentGone } from '../agent/messages.js';
import { refuseLong, textOf } from '../config/content.js';
import { findItem } from '../config/items.js';
import { errors } from '../errors.js';
import { counterCommands } from '../rest/commands/counters.js';
import { samples } from '../rest/commands/monitor.js';
import type { Answer, Call, Services } from '../services.js';
import { interfacesOf } from '../snapshot/interfaces.js';
import type { Row } from '../snapshot/snapshot.js';
import { interfacesView, rates } from '../view/interfaces.js';
import type { RestRow } from '../view/rows.js';
import { checkEthernet } from './interface/ethernet.js';
import type { MenuModule } from './module.js';

const ACCEPTS = 'names of interfaces, separated by commas, or aggregate';

/** `/interface/monitor-traffic`: rates of interfaces, once or each second for a while. */
async function monitorTraffic(call: Call): Promise<Answer> {
  const { services, menu, args } = call;
  // As ids of items these may be any number; here they are looked at in one go, and no router has so many interfaces.
  for (const name of ['numbers', '.id']) refuseLong(name, args[name]);
  const named = args.interface ?? args.numbers ?? args['.id'];
  if (named === undefined) throw errors.missingProperty('interface', ACCEPTS);
  for (const other of ['numbers', '.id']) {
    if (args[other] === undefined || JSON.stringify(args[other]) === JSON.stringify(named)) continue;
    throw errors.badProperty(other, `value of ${other}: other interfaces are named beside it; give one of the two`);
  }
  const text = textOf('interface', named);
  const missing = missingElement(text, 'a name');
  if (missing !== undefined) throw errors.badProperty('interface', `value of interface: ${missing}; give ${ACCEPTS}`);
  const names = [...new Set(text.split(','))];
  const stored = interfacesOf(services.store.snapshot);
  const rows = names
    .filter((name) => name !== 'aggregate')
    .map((name) =>
      findItem(menu, stored, name, () =>
        errors.badProperty('interface', `input does not match any value of interface: ${name}`),
      ),
    );
  return samples(call, () => takeSample(services, rows, names.includes('aggregate')));
}

async function takeSample({ live }: Services, rows: readonly Row[], aggregate: boolean): Promise<RestRow[]> {
  const stats = await live.stats();
  if (stats === undefined) throw new AgentGone();
  const samples = rows.flatMap((row) => {
    const entry = stats.interfaces.find((candidate) => candidate.row === row.id);
    return entry === undefined ? [] : [{ name: row.values.name ?? '', ...rates(entry) }];
  });
  if (!aggregate) return samples;
  const sums: Record<string, number> = {};
  for (const entry of stats.interfaces) {
    for (const [name, value] of Object.entries(rates(entry))) sums[name] = (sums[name] ?? 0) + Number(value);
  }
  return [
    ...samples,
    { name: 'aggregate', ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)])) },
  ];
}

export const interfaces: MenuModule = {
  path: '/interface',
  check: checkEthernet,
  view: (menu, { store, live }) => interfacesView(menu, store, live),
  commands: { ...counterCommands('reset-interface-counters'), 'monitor-traffic': monitorTraffic },
};
