import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import type { ShownPacket, TracedRow, TracedStep } from '@tollway/protocol/live/trace';
import { datetimeText, menuByPath, protocolText } from '@tollway/schema';
import type { TracedPacket, TraceStep } from '../agent/messages.js';
import type { Services } from '../services.js';
import { interfaceName, interfacesOf } from '../snapshot/interfaces.js';
import { type ConfigSnapshot, type Row, rowIdText, rowsOf } from '../snapshot/snapshot.js';
import type { RestRow } from '../view/rows.js';

/** Menus whose rows stages decide by. */
const FILTER = '/ip/firewall/filter';
const MENUS = [
  FILTER,
  '/ip/firewall/nat',
  '/ip/firewall/mangle',
  '/queue/simple',
  '/queue/tree',
  '/ip/route',
  '/ip/address',
  '/ip/arp',
];
/** Protocols whose ports the data plane reads: TCP and UDP. */
const PORT_PROTOCOLS = [6, 17];

/** What packets are shown by. */
export interface Names {
  readonly snapshot: ConfigSnapshot;
  /** How many rows of the data plane's own stand above the filter rules: they are counted, too. */
  readonly above: number;
}

/** The names as they are now. */
export async function namesNow({ store, views }: Pick<Services, 'store' | 'views'>): Promise<Names> {
  const shown = await views.get(FILTER)?.();
  const { snapshot } = store;
  return { snapshot, above: Math.max(0, (shown?.length ?? 0) - rowsOf(snapshot, FILTER).length) };
}

/** A row with its menu and its place there. */
type Place = { readonly menu: string; readonly row: Row; readonly at: number };

/** What rules do that leave the decision to those after them, by their actions. */
const EFFECTS: Readonly<Record<string, string>> = {
  log: 'logged by',
  passthrough: 'counted by',
  jump: 'sent on by',
  return: 'sent back by',
  'fasttrack-connection': 'fasttracked by',
  'add-src-to-address-list': 'source listed by',
  'add-dst-to-address-list': 'destination listed by',
};
const indexes = new WeakMap<ConfigSnapshot, ReadonlyMap<number, Place>>();

function indexOf(snapshot: ConfigSnapshot): ReadonlyMap<number, Place> {
  let index = indexes.get(snapshot);
  if (index === undefined) {
    index = new Map(
      MENUS.flatMap((menu) => rowsOf(snapshot, menu).map((row, at) => [row.id, { menu, row, at }] as const)),
    );
    indexes.set(snapshot, index);
  }
  return index;
}

const actionOf = ({ menu, row: { values } }: Place): string =>
  values.action ?? menuByPath(menu)?.props.action?.default ?? '';

function labelOf(place: Place, above: number): string {
  const { menu } = place;
  const at = place.at + (menu === FILTER ? above : 0);
  const { values, comment } = place.row;
  if (values.name !== undefined) return values.name;
  const rule = values.chain === undefined ? '' : `#${at} ${values.chain}: ${actionOf(place)}`;
  const what =
    rule || (values['dst-address'] ?? values.address ?? menuByPath(menu)?.props['dst-address']?.default ?? '');
  return comment === '' ? what : `${what} (${comment})`;
}

/** The row of this id, as far as it is known. */
function rowReference({ snapshot, above }: Names, id: number): TracedRow {
  const place = indexOf(snapshot).get(id);
  if (place !== undefined) {
    const action = place.row.values.chain === undefined ? '' : actionOf(place);
    const effect = Object.hasOwn(EFFECTS, action) ? EFFECTS[action] : undefined;
    return {
      id: rowIdText(id),
      menu: place.menu,
      label: labelOf(place, above),
      ...(effect !== undefined && { effect }),
    };
  }
  return { id: rowIdText(id), label: id >= FIRST_DYNAMIC_ROW ? 'made by the router' : 'removed meanwhile' };
}

/** A packet with the names of the configuration. */
export function shownPacket(names: Names, packet: TracedPacket): ShownPacket {
  const { snapshot } = names;
  const name = (row: number): string => {
    const found = row === 0 ? undefined : interfacesOf(snapshot).find(({ id }) => id === row);
    return found === undefined ? '' : interfaceName(found);
  };
  const ports = PORT_PROTOCOLS.includes(packet.protocol);
  const end = (address: string, port: number): string => (ports ? `${address}:${port}` : address);
  return {
    number: packet.number,
    timeMs: packet['time-ms'],
    in: name(packet['in-interface']),
    out: name(packet['out-interface']),
    protocol: protocolText(packet.protocol),
    src: end(packet['src-address'], packet['src-port']),
    dst: end(packet['dst-address'], packet['dst-port']),
    length: packet.length,
    ...(packet.segments > 1 && { segments: packet.segments }),
    fast: packet.fast,
    ...(packet['slow-reason'] && { slowReason: packet['slow-reason'] }),
    outcome: packet.outcome,
    ...(packet['drop-reason'] && { dropReason: packet['drop-reason'] }),
    steps: packet.steps.map((step) => shownStep(names, step)),
  };
}

function shownStep(names: Names, { stage, decision, rows: ids }: TraceStep): TracedStep {
  const rows = ids.map((row) => rowReference(names, row));
  // What no rule decides is let through.
  const undecided = stage === 'filter' && decision === 'accepted' && rows.every(({ effect }) => effect !== undefined);
  return { stage, decision: undecided ? 'accepted: no rule decided otherwise' : decision, rows };
}

/** A packet as REST sends it. */
export function restPacket(names: Names, packet: TracedPacket): RestRow {
  const shown = shownPacket(names, packet);
  const ports = PORT_PROTOCOLS.includes(packet.protocol);
  const rules = [...new Set(shown.steps.flatMap(({ rows }) => rows.map(({ id }) => id)))];
  return {
    time: datetimeText(shown.timeMs),
    ...(shown.in !== '' && { 'in-interface': shown.in }),
    ...(shown.out !== '' && { 'out-interface': shown.out }),
    protocol: shown.protocol,
    'src-address': packet['src-address'],
    ...(ports && { 'src-port': String(packet['src-port']) }),
    'dst-address': packet['dst-address'],
    ...(ports && { 'dst-port': String(packet['dst-port']) }),
    length: String(shown.length),
    ...(shown.segments !== undefined && { segments: String(shown.segments) }),
    path: shown.fast ? 'fast' : 'slow',
    ...(shown.slowReason !== undefined && { 'slow-path-reason': shown.slowReason }),
    outcome: shown.outcome,
    ...(shown.dropReason !== undefined && { 'drop-reason': shown.dropReason }),
    ...(rules.length > 0 && { rules: rules.join(',') }),
    steps: shown.steps.map(stepText).join('\n'),
  };
}

function stepText({ stage, decision, rows }: ShownPacket['steps'][number]): string {
  const by = rows
    .map(({ id, label, effect }) => `${effect === undefined ? '' : `${effect} `}${id} ${label}`)
    .join('; ');
  return `${stage}: ${decision}${by === '' ? '' : ` [${by}]`}`;
}
