import { ipv4Range, ipv6Range, parseIntRange } from '@tollway/schema';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';
import { noHost, noIpv6Host } from './addresses.js';
import { portsNeedProtocol } from './firewall.js';

const SRCNAT_ACTIONS: readonly string[] = ['masquerade', 'src-nat'];
const DSTNAT_ACTIONS: readonly string[] = ['dst-nat', 'redirect'];

/** Check of the actions of NAT rules of both families. */
export function checkNat({ menu, values }: ProposedRow): FieldError | undefined {
  const target = menu.path.startsWith('/ipv6/') ? 'to-address' : 'to-addresses';
  const { chain, action = 'accept', protocol } = values;
  if (chain === 'dstnat' && SRCNAT_ACTIONS.includes(action)) return wrongChain(action, 'srcnat', DSTNAT_ACTIONS);
  if (chain === 'srcnat' && DSTNAT_ACTIONS.includes(action)) return wrongChain(action, 'dstnat', SRCNAT_ACTIONS);
  const translates = [...SRCNAT_ACTIONS, ...DSTNAT_ACTIONS, 'netmap'].includes(action);
  if (translates && values['to-ports'] !== undefined && protocol !== 'tcp' && protocol !== 'udp') {
    return portsNeedProtocol('to-ports');
  }
  if (translates && values['to-ports'] !== undefined && parseIntRange(values['to-ports'])?.from === 0) {
    return fieldError(
      'to-ports',
      'value of to-ports: nothing is sent to or from port 0; it accepts ports from 1 to 65535',
    );
  }
  const text = translates ? values[target] : undefined;
  const wrong = text === undefined ? undefined : checkTarget(target, text, action);
  if (wrong !== undefined) return wrong;
  const needsTarget = action === 'dst-nat' || action === 'src-nat';
  const isMissing =
    values[target] === undefined && (action === 'netmap' || (needsTarget && values['to-ports'] === undefined));
  if (isMissing) {
    const other = action === 'netmap' ? '' : '; or give to-ports';
    return fieldError(
      target,
      `${target} is required when action is ${action}: ${menu.props[target]?.kind.accepts}${other}`,
    );
  }
  return undefined;
}

const wrongChain = (action: string, chain: string, instead: readonly string[]): FieldError =>
  fieldError(
    'action',
    `value of action: ${action} works in chain ${chain} only; here give ${instead.join(', ')} or another action`,
  );

/** Error for new addresses that no host has, or that are no prefix where host bits stay. */
function checkTarget(target: 'to-address' | 'to-addresses', text: string, action: string): FieldError | undefined {
  const wrong = target === 'to-address' ? checkIpv6Hosts(text) : checkIpv4Hosts(text);
  if (wrong !== undefined || action !== 'netmap' || !text.includes('-')) return wrong;
  const example = target === 'to-address' ? '2001:db8::/64' : '192.0.2.0/24';
  return fieldError(target, `value of ${target}: ${text} is no prefix; with netmap give one such as ${example}`);
}

function checkIpv4Hosts(text: string): FieldError | undefined {
  const range = ipv4Range(text);
  if (range === undefined || noHost(range.from, range.to) === undefined) return undefined;
  return fieldError(
    'to-addresses',
    'value of to-addresses: no packet is sent to or from 0.0.0.0/8, 127.0.0.0/8 and addresses from 224.0.0.0 up; it accepts ' +
      'addresses of hosts',
  );
}

function checkIpv6Hosts(text: string): FieldError | undefined {
  const range = ipv6Range(text);
  const reason = range && (noIpv6Host(range.first) ?? noIpv6Host(range.last));
  return reason === undefined
    ? undefined
    : fieldError('to-address', `value of to-address: ${text} has ${reason}; it accepts addresses of hosts`);
}
