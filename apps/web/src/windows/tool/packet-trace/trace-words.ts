/** Arguments of a trace by connections and log lines, and the rows that a trace keeps. Pure. */

import type { ShownPacket } from '@tollway/protocol/live/trace';
import { type PacketArguments, parsePacketLine } from '@tollway/schema';
import type { Row } from '../../../api/row.ts';
import type { TraceNews } from '../../../api/trace.ts';
import { timeOfDay } from '../../../ui/router-clock.ts';

/** A packet of the connection in its first direction. */
export function argumentsOfConnection(row: Row): PacketArguments {
  const address = (text = ''): string => text.replace(/:\d+$/, '');
  const words: Record<string, string> = {
    'src-address': address(row['src-address']),
    'dst-address': address(row['dst-address']),
  };
  for (const name of ['protocol', 'src-port', 'dst-port']) if (row[name]) words[name] = row[name];
  if (row.protocol === 'icmp') {
    if (row['icmp-id']) words['src-port'] = row['icmp-id'];
    if (row['icmp-type']) words['icmp-options'] = `${row['icmp-type']}:${row['icmp-code'] ?? '0'}`;
  }
  // The first packet of a connection that is long under way would be judged otherwise than those that come now.
  if (row.protocol === 'tcp' && row['tcp-state'] === 'established') words['tcp-flags'] = 'ack';
  return words;
}

/** The packet that a line of the firewall's log tells of. */
export function argumentsOfLogLine(row: Row): PacketArguments | undefined {
  const parsed = parsePacketLine(row.message ?? '');
  return parsed.ok ? parsed.words : undefined;
}

/** Types that report an error and quote a packet (RFC 792). */
const ICMP_ERRORS: ReadonlySet<string> = new Set(['3', '4', '5', '11', '12']);

/**
 * Property that a row leaves out of its packet without which a dry run would tell of another packet; undefined when it says all.
 */
export function unknownOf(words: PacketArguments): { readonly property: string; readonly detail: string } | undefined {
  if (words.protocol !== 'icmp' || words['src-port'] !== undefined) return undefined;
  if (ICMP_ERRORS.has(words['icmp-options']?.split(':')[0] ?? '')) {
    return {
      property: 'packet',
      detail: 'An ICMP error is judged by the packet that it quotes, which is not known: a dry run quotes none.',
    };
  }
  return {
    property: 'src-port',
    detail: 'ICMP identifier not known: give it as Src. Port, then Dry Run tells what becomes of the packet.',
  };
}

/** Packets of one or more traces after each other; the newest {@link MAX_PACKETS} of them. */
export const MAX_PACKETS = 1000;

export interface Kept extends ShownPacket {
  /** Unique over all traces of a window. */
  readonly key: string;
}

/** Packets with those that have come, in the order of their arrival, the oldest gone where there are too many. */
export function keep(kept: readonly Kept[], run: number, { packets, breaks }: TraceNews): readonly Kept[] {
  if (packets.length === 0) return kept;
  // After a break the numbers begin anew.
  const fresh = packets.map((packet): Kept => ({ ...packet, key: `${run}.${breaks}.${packet.number}` }));
  const known = new Set(fresh.map(({ key }) => key));
  const all = [...kept.filter(({ key }) => !known.has(key)), ...fresh];
  // A packet that waited in a queue is reported when it goes on, after packets that came later.
  return all.sort((a, b) => a.timeMs - b.timeMs).slice(-MAX_PACKETS);
}

/** Note about the connection that broke off; empty when it never did. */
export const breaksText = (breaks: number): string =>
  breaks === 0
    ? ''
    : `The connection broke off ${breaks === 1 ? 'once' : `${breaks} times`}: what came meanwhile is missing`;

/** `forwarded`, `dropped: filter-drop`. */
export const outcomeText = ({ outcome, dropReason }: ShownPacket): string =>
  dropReason ? `${outcome}: ${dropReason}` : outcome;

/** Explanation of an outcome that does not say it all by itself. */
export const outcomeHelp = ({ outcome }: ShownPacket): string | undefined =>
  outcome === 'held'
    ? 'After a second it still waited in a queue, for fragments, or for the address of its next hop'
    : undefined;

/** `1500`, `1500 × 43` for what its sender left to its device to cut. */
export const lengthText = ({ length, segments }: ShownPacket): string =>
  segments === undefined ? String(length) : `${length} × ${segments}`;

/** `fast`, `slow: new-connection`. */
export const pathText = ({ fast, slowReason }: ShownPacket): string =>
  fast ? 'fast' : slowReason ? `slow: ${slowReason}` : 'slow';

/** `14:03:07.250` */
export const clockText = (timeMs: number): string =>
  `${timeOfDay(timeMs)}.${String(new Date(timeMs).getMilliseconds()).padStart(3, '0')}`;
