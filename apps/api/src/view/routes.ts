import type { Menu } from '@tollway/schema';
import type { RouteInfo } from '../agent/messages.js';
import { ETHERNET } from '../config/ports.js';
import { FIRST_DYNAMIC_ROW, rowIdText } from '../config/snapshot.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View, yesNo } from './rows.js';
import { storedRow } from './stored.js';

/** Rows of routes that other programs made, above those of the connected ones. Numbers hold for one answer. */
const FIRST_LEARNED_ROW = FIRST_DYNAMIC_ROW + 0x4000_0000;

/** RouterOS's flags of routing protocols, by their numbers in rtnetlink(7). */
const PROTOCOL_FLAGS: ReadonlyMap<number, string> = new Map([
  [186, 'bgp'],
  [187, 'is-is'],
  [188, 'ospf'],
  [189, 'rip'],
]);

/** Static routes with their state, then the connected ones, which follow from addresses, and those of other programs. */
export function routesView(menu: Menu, store: ConfigStore, live: LiveState): View {
  return async (maxAgeMs) => {
    const routes = (await live.routes(maxAgeMs)) ?? [];
    const names = new Map((store.snapshot.get(ETHERNET) ?? []).map((row) => [row.id, row.values.name]));
    const byRow = new Map(routes.filter((route) => route.row !== 0).map((route) => [route.row, route]));
    const stored = (store.snapshot.get(menu.path) ?? []).map((row): RestRow => {
      const info = byRow.get(row.id);
      return {
        ...storedRow(menu, row),
        static: 'true',
        active: yesNo(info?.active ?? false),
        inactive: yesNo(!row.disabled && live.connected && !(info?.active ?? false)),
        ...immediateGateway(info, names),
        ...(store.invalid.has(row.id) && { '.about': store.invalid.get(row.id) ?? '' }),
      };
    });
    const connected = routes.filter((route) => route.row === 0 && !route.protocol);
    const learned = routes.filter((route) => route.protocol);
    return new ArrayRows([
      ...stored,
      ...connected.map((route) => connectedRow(route, names)),
      ...learned.map((route, place) => learnedRow(route, place, names)),
    ]);
  };
}

type Names = ReadonlyMap<number, string | undefined>;

function immediateGateway(info: RouteInfo | undefined, names: Names): RestRow {
  const name = info === undefined ? undefined : names.get(info.interface);
  if (info === undefined || name === undefined) return {};
  return { 'immediate-gw': info.gateway ? `${info.gateway}%${name}` : name };
}

function connectedRow(route: RouteInfo, names: Names): RestRow {
  const name = names.get(route.interface);
  return {
    '.id': rowIdText(FIRST_DYNAMIC_ROW + route['address-row']),
    'dst-address': `${route.destination}/${route['prefix-len']}`,
    ...(name !== undefined && { gateway: name, 'immediate-gw': name }),
    distance: String(route.distance),
    disabled: 'false',
    dynamic: 'true',
    active: yesNo(route.active),
    inactive: yesNo(!route.active),
    connect: 'true',
  };
}

function learnedRow(route: RouteInfo, place: number, names: Names): RestRow {
  const flag = PROTOCOL_FLAGS.get(route.protocol ?? 0);
  const gateway = route.gateway ?? names.get(route.interface);
  return {
    '.id': rowIdText(FIRST_LEARNED_ROW + place),
    'dst-address': `${route.destination}/${route['prefix-len']}`,
    ...(gateway !== undefined && { gateway }),
    ...immediateGateway(route, names),
    distance: String(route.distance),
    disabled: 'false',
    dynamic: 'true',
    active: yesNo(route.active),
    inactive: yesNo(!route.active),
    ...(flag !== undefined && { [flag]: 'true' }),
  };
}
