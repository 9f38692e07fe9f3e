/** Arguments of a trace, derived from connections and log lines. Pure. */

import { type PacketArguments, parsePacketLine } from '@tollway/schema';
import type { Row } from '../../../api/row.ts';

/** Arguments of a packet in the original direction of a connection. */
export function argumentsOfConnection(row: Row): PacketArguments {
  // `10.0.0.1:80`, `[2001:db8::1]:80`; an address of IPv6 without brackets has no port.
  const address = (text = ''): string => /^\[(.*)\]/.exec(text)?.[1] ?? text.replace(/^([^:]*):\d+$/, '$1');
  const args: Record<string, string> = {
    'src-address': address(row['src-address']),
    'dst-address': address(row['dst-address']),
  };
  for (const name of ['protocol', 'src-port', 'dst-port']) if (row[name]) args[name] = row[name];
  if (isIcmp(row.protocol)) {
    if (row['icmp-id']) args['src-port'] = row['icmp-id'];
    if (row['icmp-type']) args['icmp-options'] = `${row['icmp-type']}:${row['icmp-code'] ?? '0'}`;
  }
  // For an established connection the first packet (SYN) would be treated differently from present packets.
  if (row.protocol === 'tcp' && row['tcp-state'] === 'established') args['tcp-flags'] = 'ack';
  return args;
}

/** Arguments of the packet in a log line of the firewall. */
export function argumentsOfLogLine(row: Row): PacketArguments | undefined {
  const parsed = parsePacketLine(row.message ?? '');
  return parsed.ok ? parsed.args : undefined;
}

const isIcmp = (protocol: string | undefined): boolean => protocol === 'icmp' || protocol === 'icmpv6';

/** Types that report an error and quote a packet (RFC 792, RFC 4443 section 2.1). */
const ICMP_ERRORS: ReadonlySet<string> = new Set(['3', '4', '5', '11', '12']);
const ICMPV6_ERRORS: ReadonlySet<string> = new Set(['1', '2', '3', '4']);

/**
 * A property that the row does not contain, and without which a dry run would be about another packet; undefined when
 * there is none.
 */
export function unknownOf(args: PacketArguments): { readonly property: string; readonly detail: string } | undefined {
  if (!isIcmp(args.protocol) || args['src-port'] !== undefined) return undefined;
  const errors = args.protocol === 'icmp' ? ICMP_ERRORS : ICMPV6_ERRORS;
  if (errors.has(args['icmp-options']?.split(':')[0] ?? '')) {
    return {
      property: 'packet',
      detail: 'An ICMP error is judged by the packet that it quotes, which is not known: a dry run quotes none.',
    };
  }
  return {
    property: 'src-port',
    detail: 'ICMP identifier not known: give it as Src. Port, then press Dry Run.',
  };
}
