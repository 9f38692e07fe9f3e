import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import type { PacketTrace, TracedRow, TracedStep } from '@tollway/protocol/live/trace';
import { datetimeText, hasPorts, menuByPath, protocolText, registry } from '@tollway/schema';
import type { TracedPacket, TraceStep } from '../agent/messages.js';
import type { Services } from '../services.js';
import { interfaceNames } from '../snapshot/interfaces.js';
import { type ConfigSnapshot, type Row, rowIdText, rowsOf } from '../snapshot/snapshot.js';
import type { RestRow } from '../view/rows.js';

const FILTER = '/ip/firewall/filter';
/** Menus whose rows the data plane has, on which decisions of stages are based. */
const MENUS = registry
  .filter((menu) => menu.source !== 'live' && Object.values(menu.props).some(({ dataplane }) => dataplane === true))
  .map(({ path }) => path);

/** Source of the names and rule numbers for the ids in a trace. */
interface Names {
  readonly snapshot: ConfigSnapshot;
  /** Names of interfaces by their rows. */
  readonly interfaces: ReadonlyMap<number, string>;
  /** Number of dynamic rules above the filter rules of the configuration, as rule numbers include them. */
  readonly above: number;
}

/** The names of the present configuration. */
export async function namesNow({ store, views }: Pick<Services, 'store' | 'views'>): Promise<Names> {
  const shown = await views.get(FILTER)?.();
  const { snapshot } = store;
  return {
    snapshot,
    interfaces: interfaceNames(snapshot),
    above: Math.max(0, (shown?.length ?? 0) - rowsOf(snapshot, FILTER).length),
  };
}

/** A row, its menu, and its index in the menu, from 0. */
type IndexedRow = { readonly menu: string; readonly row: Row; readonly at: number };

/** Texts for actions after which the next rules are evaluated. */
const EFFECTS: Readonly<Record<string, string>> = {
  log: 'logged by',
  passthrough: 'counted by',
  jump: 'sent on by',
  return: 'sent back by',
  'fasttrack-connection': 'fasttracked by',
  'add-src-to-address-list': 'source listed by',
  'add-dst-to-address-list': 'destination listed by',
};

/** Indexes of rows by their ids, cached by array: the rows of a menu that no commit changed are the same array. */
const places = new WeakMap<readonly Row[], ReadonlyMap<number, number>>();

function placesIn(rows: readonly Row[]): ReadonlyMap<number, number> {
  let known = places.get(rows);
  if (known === undefined) {
    known = new Map(rows.map(({ id }, at) => [id, at]));
    places.set(rows, known);
  }
  return known;
}

function indexedRow(snapshot: ConfigSnapshot, id: number): IndexedRow | undefined {
  for (const menu of MENUS) {
    const rows = rowsOf(snapshot, menu);
    const at = rows.length === 0 ? undefined : placesIn(rows).get(id);
    const row = at === undefined ? undefined : rows[at];
    if (at !== undefined && row !== undefined) return { menu, row, at };
  }
  return undefined;
}

const actionOf = ({ menu, row: { values } }: IndexedRow): string =>
  values.action ?? menuByPath(menu)?.props.action?.default ?? '';

function labelOf(indexed: IndexedRow, above: number): string {
  const { menu } = indexed;
  const at = indexed.at + (menu === FILTER ? above : 0);
  const { values, comment } = indexed.row;
  if (values.name !== undefined) return values.name;
  const rule = values.chain === undefined ? '' : `#${at} ${values.chain}: ${actionOf(indexed)}`;
  const what =
    rule || (values['dst-address'] ?? values.address ?? menuByPath(menu)?.props['dst-address']?.default ?? '');
  return comment === '' ? what : `${what} (${comment})`;
}

/** The row with this id; without a menu when the configuration does not contain it. */
function rowReference({ snapshot, above }: Names, id: number): TracedRow {
  const indexed = indexedRow(snapshot, id);
  if (indexed !== undefined) {
    const action = indexed.row.values.chain === undefined ? '' : actionOf(indexed);
    const effect = Object.hasOwn(EFFECTS, action) ? EFFECTS[action] : undefined;
    return {
      id: rowIdText(id),
      menu: indexed.menu,
      label: labelOf(indexed, above),
      ...(effect !== undefined && { effect }),
    };
  }
  return { id: rowIdText(id), label: id >= FIRST_DYNAMIC_ROW ? 'made by the router' : 'removed meanwhile' };
}

/** A traced packet, with ids replaced by names of the configuration. */
export function packetTrace(names: Names, packet: TracedPacket): PacketTrace {
  const name = (row: number): string => names.interfaces.get(row) ?? '';
  const ports = hasPorts(packet.protocol);
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
    steps: packet.steps.map((step) => namedStep(names, step)),
  };
}

function namedStep(names: Names, { stage, decision, rows: ids }: TraceStep): TracedStep {
  const rows = ids.map((row) => rowReference(names, row));
  // A packet about which no rule decides is accepted.
  const undecided = stage === 'filter' && decision === 'accepted' && rows.every(({ effect }) => effect !== undefined);
  return { stage, decision: undecided ? 'accepted: no rule decided otherwise' : decision, rows };
}

/** A packet as REST sends it. */
export function restPacket(names: Names, packet: TracedPacket): RestRow {
  const shown = packetTrace(names, packet);
  const ports = hasPorts(packet.protocol);
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

function stepText({ stage, decision, rows }: PacketTrace['steps'][number]): string {
  const by = rows
    .map(({ id, label, effect }) => `${effect === undefined ? '' : `${effect} `}${id} ${label}`)
    .join('; ');
  return `${stage}: ${decision}${by === '' ? '' : ` [${by}]`}`;
}
