/** Arguments of a trace by connections and log lines. Pure. */

import { type PacketArguments, parsePacketLine } from '@tollway/schema';
import type { Row } from '../../../api/row.ts';

/** A packet of the connection in its first direction. */
export function argumentsOfConnection(row: Row): PacketArguments {
  const address = (text = ''): string => text.replace(/:\d+$/, '');
  const args: Record<string, string> = {
    'src-address': address(row['src-address']),
    'dst-address': address(row['dst-address']),
  };
  for (const name of ['protocol', 'src-port', 'dst-port']) if (row[name]) args[name] = row[name];
  if (row.protocol === 'icmp') {
    if (row['icmp-id']) args['src-port'] = row['icmp-id'];
    if (row['icmp-type']) args['icmp-options'] = `${row['icmp-type']}:${row['icmp-code'] ?? '0'}`;
  }
  // The first packet of a connection that is long under way would be judged otherwise than those that come now.
  if (row.protocol === 'tcp' && row['tcp-state'] === 'established') args['tcp-flags'] = 'ack';
  return args;
}

/** The packet of a log line of the firewall. */
export function argumentsOfLogLine(row: Row): PacketArguments | undefined {
  const parsed = parsePacketLine(row.message ?? '');
  return parsed.ok ? parsed.args : undefined;
}

/** Types that report an error and quote a packet (RFC 792). */
const ICMP_ERRORS: ReadonlySet<string> = new Set(['3', '4', '5', '11', '12']);

/**
 * Property that a row leaves out of its packet without which a dry run would be about another packet; undefined when it has all.
 */
export function unknownOf(args: PacketArguments): { readonly property: string; readonly detail: string } | undefined {
  if (args.protocol !== 'icmp' || args['src-port'] !== undefined) return undefined;
  if (ICMP_ERRORS.has(args['icmp-options']?.split(':')[0] ?? '')) {
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
