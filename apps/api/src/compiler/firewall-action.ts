import type { Action, AddressRange, PortRange, RejectWith } from '@tollway/dataplane-agent';
import { durationMs, parseIntRange } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { type AddressLists, addressRange } from './address-lists.js';
import { type CompileContext, effective, requiredValue } from './context.js';
import type { Table } from './hooks.js';
import { InvalidRow } from './invalid-row.js';
import { routingMark } from './routing-tables.js';

const REJECT_WITH: readonly RejectWith[] = [
  'icmp-network-unreachable',
  'icmp-host-unreachable',
  'icmp-protocol-unreachable',
  'icmp-port-unreachable',
  'icmp-net-prohibited',
  'icmp-host-prohibited',
  'icmp-admin-prohibited',
  'tcp-reset',
  'icmp-no-route',
  'icmp-not-neighbour',
  'icmp-address-unreachable',
  'icmp-err-src-routing-header',
  'icmp-headers-too-long',
];

/** Action of a rule other than `jump`. */
export function translateAction(
  context: CompileContext,
  lists: AddressLists,
  table: Table,
  menu: string,
  row: Row,
  kind: string,
): Action {
  switch (kind) {
    case 'add-src-to-address-list':
    case 'add-dst-to-address-list': {
      const list = lists.indexOf(requiredValue(menu, row, 'address-list'));
      // none-dynamic has no end: 0.
      return { kind, list, 'timeout-ms': durationMs(requiredValue(menu, row, 'address-list-timeout')) ?? 0 };
    }
    case 'accept':
    case 'return':
    case 'log':
    case 'passthrough':
      return { kind };
    default:
      return otherAction(context, table, menu, row, kind);
  }
}

function otherAction(context: CompileContext, table: Table, menu: string, row: Row, kind: string): Action {
  switch (table) {
    case 'filter':
      return filterAction(menu, row, kind);
    case 'nat':
      return natAction(menu, row, kind);
    case 'mangle':
      return mangleAction(context, menu, row, kind);
  }
}

function filterAction(menu: string, row: Row, kind: string): Action {
  switch (kind) {
    case 'drop':
    case 'fasttrack-connection':
      return { kind };
    case 'reject': {
      const text = requiredValue(menu, row, 'reject-with');
      const answer = REJECT_WITH.find((known) => known === text);
      if (!answer) throw new InvalidRow(`reject-with: ${text} is no answer`);
      return { kind, with: answer };
    }
    default:
      throw new InvalidRow(`action: ${kind} is no action of a filter rule`);
  }
}

function natAction(menu: string, row: Row, kind: string): Action {
  const toAddresses = newAddresses(menu, row);
  const toPorts = newPorts(menu, row);
  const randomise = effective(menu, row, 'randomise-ports') === 'true';
  switch (kind) {
    case 'masquerade':
      return { kind, 'to-ports': toPorts, 'randomise-ports': randomise };
    case 'src-nat':
      return { kind, 'to-addresses': toAddresses, 'to-ports': toPorts, 'randomise-ports': randomise };
    case 'dst-nat':
      return { kind, 'to-addresses': toAddresses, 'to-ports': toPorts };
    case 'redirect':
      return { kind, 'to-ports': toPorts };
    case 'netmap':
      if (toAddresses === null) throw new InvalidRow(`${toProperty(menu)} is not set`);
      return { kind, 'to-addresses': toAddresses, 'to-ports': toPorts };
    default:
      throw new InvalidRow(`action: ${kind} is no action of a NAT rule`);
  }
}

/** Property with the new addresses, by the menu's family. */
const toProperty = (menu: string): string => (menu.startsWith('/ipv6/') ? 'to-address' : 'to-addresses');

function newAddresses(menu: string, row: Row): AddressRange | null {
  const property = toProperty(menu);
  const text = effective(menu, row, property);
  return text === undefined ? null : addressRange(property, text);
}

function newPorts(menu: string, row: Row): PortRange | null {
  const text = effective(menu, row, 'to-ports');
  if (text === undefined) return null;
  const range = parseIntRange(text);
  if (!range) throw new InvalidRow(`to-ports: ${text} is no port or range of ports`);
  return range;
}

const NEW_ROUTING_MARK = 'new-routing-mark';

function mangleAction(context: CompileContext, menu: string, row: Row, kind: string): Action {
  const { marks } = context;
  const passthrough = effective(menu, row, 'passthrough') === 'true';
  switch (kind) {
    case 'fasttrack-connection':
      return { kind };
    case 'mark-packet':
      return { kind, mark: marks.of(requiredValue(menu, row, 'new-packet-mark')), passthrough };
    case 'mark-connection':
      return { kind, mark: marks.of(requiredValue(menu, row, 'new-connection-mark')), passthrough };
    case 'mark-routing':
      return {
        kind,
        mark: routingMark(context, NEW_ROUTING_MARK, requiredValue(menu, row, NEW_ROUTING_MARK)),
        passthrough,
      };
    case 'change-dscp':
      return { kind, dscp: Number(requiredValue(menu, row, 'new-dscp')), passthrough };
    case 'change-mss': {
      const mss = requiredValue(menu, row, 'new-mss');
      const size =
        mss === 'clamp-to-pmtu' ? ({ kind: mss } as const) : ({ kind: 'value', bytes: Number(mss) } as const);
      return { kind, mss: size, passthrough };
    }
    default:
      throw new InvalidRow(`action: ${kind} is no action of a mangle rule`);
  }
}
