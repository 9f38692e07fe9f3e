import { ipv4Range, LIST_ACTIONS, parseIntRange } from '@tollway/schema';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';

/** Properties of the rules of a table. */
interface Table {
  /** Names that are hooks elsewhere: as a chain of one's own they would silently never be reached. */
  readonly otherHooks: readonly string[];
  /** Check of rules of this table alone. */
  readonly check?: (proposed: ProposedRow) => FieldError | undefined;
}

/** The check of the rules of a table. */
export const checkRulesOf =
  ({ otherHooks, check }: Table) =>
  (proposed: ProposedRow): FieldError | undefined =>
    checkChain(proposed, otherHooks) ??
    checkInterfaces(proposed) ??
    checkTransport(proposed) ??
    checkAction(proposed) ??
    check?.(proposed);

function checkChain({ menu, values }: ProposedRow, otherHooks: readonly string[]): FieldError | undefined {
  const { chain } = values;
  if (chain === undefined || !otherHooks.includes(chain)) return undefined;
  const hooks = menu.props.chain?.kind.values?.join(', ');
  return fieldError(
    'chain',
    `value of chain: ${chain} is not a chain of this table; give ${hooks} or a name of your own`,
  );
}

/** Built-in chains where the packet has no incoming or no outgoing interface yet. */
const WITHOUT: Readonly<Record<string, { readonly prefix: string; readonly word: string; readonly instead: string }>> =
  {
    output: { prefix: 'in-interface', word: 'incoming', instead: 'out-interface' },
    prerouting: { prefix: 'out-interface', word: 'outgoing', instead: 'in-interface' },
    input: { prefix: 'out-interface', word: 'outgoing', instead: 'in-interface' },
    dstnat: { prefix: 'out-interface', word: 'outgoing', instead: 'in-interface' },
  };

function checkInterfaces({ values }: ProposedRow): FieldError | undefined {
  const without = WITHOUT[values.chain ?? ''];
  if (!without) return undefined;
  const property = [without.prefix, `${without.prefix}-list`].find((name) => values[name] !== undefined);
  if (property === undefined) return undefined;
  return fieldError(
    property,
    `value of ${property}: ${without.word} interface matching is not possible in chain ${values.chain}; use ${without.instead} or another chain`,
  );
}

const PORTS = ['src-port', 'dst-port', 'port'] as const;

function checkTransport({ values }: ProposedRow): FieldError | undefined {
  const { protocol } = values;
  const property = PORTS.find((name) => values[name] !== undefined);
  if (property && protocol !== 'tcp' && protocol !== 'udp') return portsNeedProtocol(property);
  if (values['tcp-flags'] !== undefined && protocol !== 'tcp') {
    return fieldError('tcp-flags', 'value of tcp-flags: TCP flags can be specified only if protocol is tcp');
  }
  if (values['icmp-options'] !== undefined && protocol !== 'icmp') {
    return fieldError('icmp-options', 'value of icmp-options: ICMP options can be specified only if protocol is icmp');
  }
  return undefined;
}

const portsNeedProtocol = (property: string): FieldError =>
  fieldError(property, `value of ${property}: ports can be specified only if protocol is tcp or udp`);

function checkAction({ values, menu }: ProposedRow): FieldError | undefined {
  if (LIST_ACTIONS.some((action) => action === values.action) && values['address-list'] === undefined) {
    return fieldError(
      'address-list',
      `address-list is required when action is ${values.action}: ${menu.props['address-list']?.kind.accepts}`,
    );
  }
  if (values.action !== 'jump' || values['jump-target'] !== undefined) return undefined;
  return fieldError(
    'jump-target',
    `jump-target is required when action is jump: ${menu.props['jump-target']?.kind.accepts}`,
  );
}

const SRCNAT_ACTIONS: readonly string[] = ['masquerade', 'src-nat'];
const DSTNAT_ACTIONS: readonly string[] = ['dst-nat', 'redirect'];

/** Addresses that no host has (RFC 1122 section 3.2.1.3), and groups. */
const NO_HOSTS = [
  { from: 0, to: 0x00ff_ffff },
  { from: 0x7f00_0000, to: 0x7fff_ffff },
  { from: 0xe000_0000, to: 0xffff_ffff },
];

/** `/ip/firewall/nat` */
export function checkNat({ menu, values }: ProposedRow): FieldError | undefined {
  const { chain, action = 'accept', protocol } = values;
  if (chain === 'dstnat' && SRCNAT_ACTIONS.includes(action)) return wrongChain(action, 'srcnat', DSTNAT_ACTIONS);
  if (chain === 'srcnat' && DSTNAT_ACTIONS.includes(action)) return wrongChain(action, 'dstnat', SRCNAT_ACTIONS);
  const translates = SRCNAT_ACTIONS.includes(action) || DSTNAT_ACTIONS.includes(action);
  if (translates && values['to-ports'] !== undefined && protocol !== 'tcp' && protocol !== 'udp') {
    return portsNeedProtocol('to-ports');
  }
  if (translates && values['to-ports'] !== undefined && parseIntRange(values['to-ports'])?.from === 0) {
    return fieldError(
      'to-ports',
      'value of to-ports: nothing is sent to or from port 0; it accepts ports from 1 to 65535',
    );
  }
  const to = translates && values['to-addresses'] !== undefined ? ipv4Range(values['to-addresses']) : undefined;
  if (to !== undefined && NO_HOSTS.some(({ from, to: last }) => to.from <= last && to.to >= from)) {
    return fieldError(
      'to-addresses',
      'value of to-addresses: no packet is sent to or from 0.0.0.0/8, 127.0.0.0/8 and addresses from 224.0.0.0 up; it accepts ' +
        'addresses of hosts',
    );
  }
  const needsTarget = action === 'dst-nat' || action === 'src-nat';
  if (needsTarget && values['to-addresses'] === undefined && values['to-ports'] === undefined) {
    return fieldError(
      'to-addresses',
      `to-addresses is required when action is ${action}: ${menu.props['to-addresses']?.kind.accepts}; or give to-ports`,
    );
  }
  return undefined;
}

const wrongChain = (action: string, chain: string, instead: readonly string[]): FieldError =>
  fieldError(
    'action',
    `value of action: ${action} works in chain ${chain} only; here give ${instead.join(', ')} or another action`,
  );

/** Property that an action of mangle writes. */
const WRITES: Readonly<Record<string, string>> = {
  'mark-packet': 'new-packet-mark',
  'mark-connection': 'new-connection-mark',
  'mark-routing': 'new-routing-mark',
  'change-dscp': 'new-dscp',
  'change-mss': 'new-mss',
};

/** `/ip/firewall/mangle` */
export function checkMangle({ menu, values }: ProposedRow): FieldError | undefined {
  const { action = 'accept', chain, protocol } = values;
  const property = Object.hasOwn(WRITES, action) ? WRITES[action] : undefined;
  if (property !== undefined && values[property] === undefined) {
    return fieldError(
      property,
      `${property} is required when action is ${action}: ${menu.props[property]?.kind.accepts}`,
    );
  }
  if (action === 'mark-routing' && ['input', 'forward', 'postrouting'].includes(chain ?? '')) {
    return fieldError(
      'action',
      `value of action: mark-routing works in chains prerouting and output only; here routing is already done`,
    );
  }
  if (action === 'change-mss' && protocol !== 'tcp') {
    return fieldError('action', 'value of action: change-mss can be used only if protocol is tcp');
  }
  return undefined;
}
