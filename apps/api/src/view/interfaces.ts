import { MAX_VLAN_TAGS } from '@tollway/dataplane-agent/records';
import { datetimeText, type Menu } from '@tollway/schema';
import type { InterfaceStats, PortInfo } from '../agent/messages.js';
import type { ConfigStore } from '../config/store.js';
import { interfaceNamed, typedInterfaces } from '../snapshot/interfaces.js';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View, yesNo } from './rows.js';
import { storedRow } from './stored.js';

/** `/interface` and the menus of its types: interfaces with their counters and rates. */
export function interfacesView(menu: Menu, store: ConfigStore, live: LiveState): View {
  return async (maxAgeMs) => {
    const stats = await live.stats(maxAgeMs);
    const byRow = new Map(stats?.interfaces.map((entry) => [entry.row, entry]));
    const reported = 'io-backend' in menu.props ? await live.ports(maxAgeMs) : live.agent.hello?.ports;
    const ports = new Map(reported?.map((port) => [port.name, port]));
    return new ArrayRows(
      typedInterfaces(store.snapshot, menu.interfaceType === 'any' ? undefined : menu.path).map(
        ({ row, type }): RestRow => {
          const rest = storedRow(menu, row);
          rest.type = type;
          if (row.values['default-name'] !== undefined) rest['default-name'] = row.values['default-name'];
          const port = ports.get(row.values['default-name'] ?? '');
          const room = port === undefined ? roomBehindTags(store.snapshot, row, ports) : undefined;
          return pick(menu, {
            ...rest,
            ...portFacts(port, row.values['mac-address']),
            ...(room !== undefined && { l2mtu: String(room) }),
            ...(stats && counters(byRow.get(row.id))),
          });
        },
      ),
    );
  };
}

/** Bytes of a VLAN's tag. */
const TAG = 4;

/** L2 MTU of an interface above a port; undefined while its port is gone. */
function roomBehindTags(snapshot: ConfigSnapshot, row: Row, ports: ReadonlyMap<string, PortInfo>): number | undefined {
  let below: Row | undefined = row;
  for (let tags = 0; below !== undefined && tags <= MAX_VLAN_TAGS; tags += 1) {
    const port = ports.get(below.values['default-name'] ?? '');
    if (port !== undefined) return port['max-l2mtu'] - tags * TAG;
    below = interfaceNamed(snapshot, below.values.interface ?? '');
  }
  return undefined;
}

function portFacts(port: PortInfo | undefined, ownMac: string | undefined): RestRow {
  if (port === undefined) return {};
  const mac = port['mac-address'].toUpperCase();
  return {
    l2mtu: String(port['max-l2mtu']),
    'orig-mac-address': mac,
    'mac-address': ownMac ?? mac,
    'io-backend': port.io,
    ...(port['io-reason'] !== '' && { 'io-reason': port['io-reason'] }),
  };
}

/** Counters and state of an interface. An interface that the data plane does not have is not running. */
function counters(stats: InterfaceStats | undefined): RestRow {
  if (stats === undefined) return { running: 'false' };
  return {
    running: yesNo(stats.running),
    'actual-mtu': String(stats['actual-mtu']),
    ...(stats['mac-address'] !== '' && { 'mac-address': stats['mac-address'].toUpperCase() }),
    'link-downs': String(stats['link-downs']),
    ...(stats['last-link-up-ms'] > 0 && { 'last-link-up-time': datetimeText(stats['last-link-up-ms']) }),
    ...(stats['last-link-down-ms'] > 0 && { 'last-link-down-time': datetimeText(stats['last-link-down-ms']) }),
    'rx-byte': String(stats['rx-bytes']),
    'tx-byte': String(stats['tx-bytes']),
    'rx-packet': String(stats['rx-packets']),
    'tx-packet': String(stats['tx-packets']),
    'rx-drop': String(stats['rx-drops']),
    'tx-drop': String(stats['tx-drops']),
    'rx-error': String(stats['rx-errors']),
    'tx-error': String(stats['tx-errors']),
    'fp-rx-byte': String(stats['fp-rx-bytes']),
    'fp-tx-byte': String(stats['fp-tx-bytes']),
    'fp-rx-packet': String(stats['fp-rx-packets']),
    'fp-tx-packet': String(stats['fp-tx-packets']),
    'own-tx-byte': String(stats['own-tx-bytes']),
    'own-tx-packet': String(stats['own-tx-packets']),
    ...rates(stats),
  };
}

/** Rates over the last full second, as `/interface/monitor-traffic` names them. */
export function rates({ rates: r }: InterfaceStats): RestRow {
  return {
    'rx-packets-per-second': String(r['rx-pps']),
    'rx-bits-per-second': String(r['rx-bps']),
    'fp-rx-packets-per-second': String(r['fp-rx-pps']),
    'fp-rx-bits-per-second': String(r['fp-rx-bps']),
    'tx-packets-per-second': String(r['tx-pps']),
    'tx-bits-per-second': String(r['tx-bps']),
    'fp-tx-packets-per-second': String(r['fp-tx-pps']),
    'fp-tx-bits-per-second': String(r['fp-tx-bps']),
    'own-tx-packets-per-second': String(r['own-tx-pps']),
    'own-tx-bits-per-second': String(r['own-tx-bps']),
    'rx-drops-per-second': String(r['rx-drops-per-second']),
    'tx-drops-per-second': String(r['tx-drops-per-second']),
    'rx-errors-per-second': String(r['rx-errors-per-second']),
    'tx-errors-per-second': String(r['tx-errors-per-second']),
  };
}

/** Properties of a row that the menu declares. */
function pick(menu: Menu, row: RestRow): RestRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name.startsWith('.') || name in menu.props));
}
