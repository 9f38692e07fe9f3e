/** Packets that a trace keeps, and their texts. Pure. */

import type { PacketTrace } from '@tollway/protocol/live/trace';
import type { TraceNews } from '../../../api/trace.ts';
import { timeOfDay } from '../../../ui/router-clock.ts';

/** Packets of one or more traces after each other; the newest {@link MAX_PACKETS} of them. */
export const MAX_PACKETS = 1000;

export interface Kept extends PacketTrace {
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
export const outcomeText = ({ outcome, dropReason }: PacketTrace): string =>
  dropReason ? `${outcome}: ${dropReason}` : outcome;

/** Explanation of an outcome that does not say it all by itself. */
export const outcomeHelp = ({ outcome }: PacketTrace): string | undefined =>
  outcome === 'held'
    ? 'After a second it still waited in a queue, for fragments, or for the address of its next hop'
    : undefined;

/** `1500`, `1500 × 43` for what its sender left to its device to cut. */
export const lengthText = ({ length, segments }: PacketTrace): string =>
  segments === undefined ? String(length) : `${length} × ${segments}`;

/** `fast`, `slow: new-connection`. */
export const pathText = ({ fast, slowReason }: PacketTrace): string =>
  fast ? 'fast' : slowReason ? `slow: ${slowReason}` : 'slow';

/** `14:03:07.250` */
export const clockText = (timeMs: number): string =>
  `${timeOfDay(timeMs)}.${String(new Date(timeMs).getMilliseconds()).padStart(3, '0')}`;
