import { AgentGone } from '../agent/messages.js';
import { findItems } from '../config/items.js';
import { errors } from '../errors.js';
import { counterCommands } from '../rest/commands/counters.js';
import { samples } from '../rest/commands/monitor.js';
import type { Answer, CommandCall, Services } from '../services.js';
import { interfaceName, interfacesOf } from '../snapshot/interfaces.js';
import type { Row } from '../snapshot/snapshot.js';
import { interfacesView, rates } from '../view/interfaces.js';
import type { RestRow } from '../view/rows.js';
import type { MenuModule } from './module.js';

/** `/interface/monitor-traffic`: rates of interfaces, once or each second for a while. */
async function monitorTraffic(call: CommandCall): Promise<Answer> {
  const { services, menu, values } = call;
  const names = [...new Set(values.interface?.split(','))];
  const stored = interfacesOf(services.store.snapshot);
  const named = names.filter((name) => name !== 'aggregate');
  const rows = await findItems(menu, stored, named, (name) =>
    errors.badProperty('interface', `input does not match any value of interface: ${name}`),
  );
  return samples(call, () => takeSample(services, rows, names.includes('aggregate')));
}

async function takeSample({ live }: Services, rows: readonly Row[], aggregate: boolean): Promise<RestRow[]> {
  const stats = await live.stats();
  if (stats === undefined) throw new AgentGone();
  const samples = rows.flatMap((row) => {
    const entry = stats.interfaces.find((candidate) => candidate.row === row.id);
    return entry === undefined ? [] : [{ name: interfaceName(row), ...rates(entry) }];
  });
  if (!aggregate) return samples;
  const sums: Record<string, number> = {};
  // What passes a VLAN passes its port, too.
  for (const entry of stats.interfaces.filter(({ port }) => port !== '')) {
    for (const [name, value] of Object.entries(rates(entry))) sums[name] = (sums[name] ?? 0) + Number(value);
  }
  return [
    ...samples,
    { name: 'aggregate', ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)])) },
  ];
}

export const interfaces: MenuModule = {
  path: '/interface',
  view: (menu, { store, live }) => interfacesView(menu, store, live),
  commands: { ...counterCommands('reset-interface-counters'), 'monitor-traffic': monitorTraffic },
};
