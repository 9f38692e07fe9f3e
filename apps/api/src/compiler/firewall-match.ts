import type { ConnectionState, Matcher, PortRange } from '@tollway/dataplane-agent';
import {
  CONNECTION_STATES,
  menuByPath,
  parseHopLimit,
  parseIcmpOptions,
  parseIntRange,
  parseLimit,
  parseNth,
  parseVolumeRange,
  parseWeekdayTimes,
  portRanges,
  protocolNumber,
  splitNot,
  TCP_FLAGS,
  WEEKDAYS,
} from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { type AddressLists, addressRange } from './address-lists.js';
import type { CompileContext } from './context.js';
import { isBuiltinList } from './interface-names.js';
import { InvalidRow } from './invalid-row.js';
import { routingMark } from './routing-tables.js';

interface Given {
  readonly text: string;
  readonly negate: boolean;
}

type Translate = (given: Given, context: CompileContext, lists: AddressLists) => Matcher;

/**
 * One translation per condition, in the order in which the data plane evaluates them: cheap conditions first, and last
 * the stateful ones, so that only packets which meet all other conditions are counted by them.
 */
const TRANSLATIONS: Readonly<Record<string, Translate>> = {
  'in-interface': ({ text, negate }, context) => ({
    kind: 'in-interface',
    interfaces: context.interfaces.rows('in-interface', text),
    negate,
  }),
  'in-interface-list': ({ text, negate }, context) => ({
    kind: 'in-interface',
    interfaces: listed(context, 'in-interface-list', text, negate),
    negate,
  }),
  'out-interface': ({ text, negate }, context) => ({
    kind: 'out-interface',
    interfaces: context.interfaces.rows('out-interface', text),
    negate,
  }),
  'out-interface-list': ({ text, negate }, context) => ({
    kind: 'out-interface',
    interfaces: listed(context, 'out-interface-list', text, negate),
    negate,
  }),
  protocol: ({ text, negate }) => {
    const protocol = protocolNumber(text);
    if (protocol === undefined) throw new InvalidRow(`protocol: ${text} is no protocol`);
    return { kind: 'protocol', protocol, negate };
  },
  'src-address': ({ text, negate }) => ({ kind: 'src-address', range: addressRange('src-address', text), negate }),
  'dst-address': ({ text, negate }) => ({ kind: 'dst-address', range: addressRange('dst-address', text), negate }),
  'packet-mark': ({ text, negate }, { marks }) => ({ kind: 'packet-mark', mark: marks.of(text), negate }),
  'connection-mark': ({ text, negate }, { marks }) => ({ kind: 'connection-mark', mark: marks.of(text), negate }),
  'routing-mark': ({ text, negate }, context) => ({
    kind: 'routing-mark',
    mark: routingMark(context, 'routing-mark', text),
    negate,
  }),
  dscp: ({ text, negate }) => ({ kind: 'dscp', dscp: Number(text), negate }),
  'dst-address-list': ({ text, negate }, _, lists) => ({ kind: 'dst-address-list', list: lists.indexOf(text), negate }),
  'src-address-list': ({ text, negate }, _, lists) => ({ kind: 'src-address-list', list: lists.indexOf(text), negate }),
  'hop-limit': ({ text }) => ({ kind: 'hop-limit', ...read('hop-limit', text, parseHopLimit) }),
  'packet-size': ({ text, negate }) => ({ kind: 'packet-size', ...read('packet-size', text, parseIntRange), negate }),
  'dst-port': ({ text, negate }) => ({ kind: 'dst-port', ports: ports('dst-port', text), negate }),
  'src-port': ({ text, negate }) => ({ kind: 'src-port', ports: ports('src-port', text), negate }),
  port: ({ text, negate }) => ({ kind: 'port', ports: ports('port', text), negate }),
  'tcp-flags': ({ text, negate }) => {
    const bits = (wanted: (word: string) => boolean): number =>
      TCP_FLAGS.reduce((sum, flag, bit) => (wanted(flag) ? sum | (1 << bit) : sum), 0);
    const words = text.split(',');
    return {
      kind: 'tcp-flags',
      set: bits((flag) => words.includes(flag)),
      clear: bits((flag) => words.includes(`!${flag}`)),
      negate,
    };
  },
  'icmp-options': ({ text, negate }) => {
    const options = parseIcmpOptions(text);
    if (!options) throw new InvalidRow(`icmp-options: ${text} is no ICMP type`);
    const { type, codeFrom, codeTo } = options;
    return { kind: 'icmp-options', 'icmp-type': type, 'code-from': codeFrom, 'code-to': codeTo, negate };
  },
  'connection-state': ({ text, negate }) => {
    const words = text.split(',');
    const states: ConnectionState[] = CONNECTION_STATES.filter((state) => words.includes(state));
    return { kind: 'connection-state', states, negate };
  },
  'connection-nat-state': ({ text, negate }) => {
    const words = text.split(',');
    return { kind: 'connection-nat-state', srcnat: words.includes('srcnat'), dstnat: words.includes('dstnat'), negate };
  },
  time: ({ text, negate }, context) => {
    const { fromMs, toMs, days } = read('time', text, parseWeekdayTimes);
    return {
      kind: 'time',
      'from-ms': fromMs,
      'to-ms': toMs,
      days: WEEKDAYS.reduce((sum, day, bit) => (days.includes(day) ? sum | (1 << bit) : sum), 0),
      'utc-offset-s': context.clockOffset(),
      negate,
    };
  },
  'connection-bytes': ({ text }) => ({
    kind: 'connection-bytes',
    ...read('connection-bytes', text, parseVolumeRange),
  }),
  random: ({ text }) => ({ kind: 'random', percent: Number(text) }),
  nth: ({ text, negate }) => ({ kind: 'nth', ...read('nth', text, parseNth), negate }),
  limit: ({ text, negate }) => {
    const { rate, perMs, burst, unit } = read('limit', text, parseLimit);
    return { kind: 'limit', rate, 'per-ms': perMs, burst, unit, negate };
  },
};

/** Conditions of a rule. */
export function translateMatchers(context: CompileContext, lists: AddressLists, path: string, row: Row): Matcher[] {
  const menu = menuByPath(path);
  return Object.entries(TRANSLATIONS).flatMap(([property, translate]) => {
    const prop = menu?.props[property];
    const value = prop && row.values[property];
    if (value === undefined || value === '') return [];
    // Where `!` applies to single flags (tcp-flags), the condition as a whole is not inverted.
    return [translate(prop?.not ? splitNot(value) : { text: value, negate: false }, context, lists)];
  });
}

function read<T>(property: string, text: string, parse: (text: string) => T | undefined): T {
  const value = parse(text);
  if (value === undefined) throw new InvalidRow(`${property}: ${text} cannot be read`);
  return value;
}

/** A rule that names a list without members would silently match nothing: it is reported as invalid instead. */
function listed(context: CompileContext, property: string, name: string, negate: boolean): number[] {
  const rows = context.interfaces.list(name);
  if (!rows) throw new InvalidRow(`${property}: there is no interface list ${name}`);
  if (rows.length === 0 && !negate && !isBuiltinList(name)) {
    throw new InvalidRow(`${property}: interface list ${name} has no members`);
  }
  return [...rows];
}

function ports(property: string, text: string): PortRange[] {
  const result = portRanges(text);
  if ('wrong' in result) throw new InvalidRow(`${property}: ${result.wrong} is no port or range of ports`);
  return [...result.ranges];
}
