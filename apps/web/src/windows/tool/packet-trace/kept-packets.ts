/** Packets that the trace window keeps, and their texts. Pure. */

import type { PacketTrace } from '@tollway/protocol/live/trace';
import type { TraceNews } from '../../../api/trace.ts';
import { timeOfDay } from '../../../ui/router-clock.ts';

/** Maximum number of packets that are kept of one or more consecutive traces; the oldest are dropped. */
export const MAX_PACKETS = 1000;

export interface Kept extends PacketTrace {
  /** Unique over all traces of a window. */
  readonly key: string;
}

/** The kept packets with new ones added in the order of their time; the oldest are dropped if there are too many. */
export function keep(kept: readonly Kept[], run: number, { packets, breaks }: TraceNews): readonly Kept[] {
  if (packets.length === 0) return kept;
  // After a loss of the connection numbering restarts.
  const fresh = packets.map((packet): Kept => ({ ...packet, key: `${run}.${breaks}.${packet.number}` }));
  const known = new Set(fresh.map(({ key }) => key));
  const all = [...kept.filter(({ key }) => !known.has(key)), ...fresh];
  // A queued packet is reported when it is sent, after packets that arrived later.
  return all.sort((a, b) => a.timeMs - b.timeMs).slice(-MAX_PACKETS);
}

/** Note about losses of the connection; empty if there was none. */
export const breaksText = (breaks: number): string =>
  breaks === 0
    ? ''
    : `The connection broke off ${breaks === 1 ? 'once' : `${breaks} times`}: what came meanwhile is missing`;

/** `forwarded`, `dropped: filter-drop`. */
export const outcomeText = ({ outcome, dropReason }: PacketTrace): string =>
  dropReason ? `${outcome}: ${dropReason}` : outcome;

/** Explanation of an outcome that is not self-explanatory. */
export const outcomeHelp = ({ outcome }: PacketTrace): string | undefined =>
  outcome === 'held'
    ? 'After a second it still waited in a queue, for fragments, or for the address of its next hop'
    : undefined;

/** `1500`; `1500 × 43` for a packet that its sender left to the network card to segment. */
export const lengthText = ({ length, segments }: PacketTrace): string =>
  segments === undefined ? String(length) : `${length} × ${segments}`;

/** `fast`, `slow: new-connection`. */
export const pathText = ({ fast, slowReason }: PacketTrace): string =>
  fast ? 'fast' : slowReason ? `slow: ${slowReason}` : 'slow';

/** `14:03:07.250` */
export const clockText = (timeMs: number): string =>
  `${timeOfDay(timeMs)}.${String(new Date(timeMs).getMilliseconds()).padStart(3, '0')}`;
