/** Pairs of numbers in the text form of queues, `upload/download`; nodes of queue trees have single numbers. Pure. */
import { hasOneDirection, QUEUE_MENUS, type QueueMenu } from '@tollway/protocol/queue-menus';
import type { Row } from '../../api/row.ts';

/** Both halves of a pair; a single number is used for both, and a missing or invalid number is 0. */
export function halves(pair: string | undefined): readonly [number, number] {
  const [up = '', down = up] = (pair ?? '').split('/');
  return [Number(up) || 0, Number(down) || 0];
}

/** Ratio of rate to limit in the direction that is closer to its limit; 0 without limits. */
export function queueLoad(rate: string | undefined, limit: string | undefined): number {
  const rates = halves(rate);
  const limits = halves(limit);
  return Math.max(0, ...([0, 1] as const).map((which) => (limits[which] > 0 ? rates[which] / limits[which] : 0)));
}

/** A direction that a queue limits. */
export interface Direction {
  readonly label: string;
  /** Noun in sentences; empty if there is only one direction. */
  readonly word: string;
  /** Custom property that holds its colour. */
  readonly color: string;
}

const UP_DOWN: readonly Direction[] = [
  { label: 'Upload', word: 'upload', color: '--tx' },
  { label: 'Download', word: 'download', color: '--rx' },
];
const ONE: readonly Direction[] = [{ label: 'Traffic', word: '', color: '--tx' }];

/** The menu of a queue, derived from its limits: pairs, or single numbers. */
export function queueMenuOf(row: Row): QueueMenu {
  const isPair = (row['max-limit'] ?? '').includes('/');
  return QUEUE_MENUS.find((menu) => hasOneDirection(menu) !== isPair) ?? '/queue/simple';
}

/** The directions of a queue: a simple queue has two, a node of a queue tree one. */
export const directionsOf = (row: Row): readonly Direction[] => (hasOneDirection(queueMenuOf(row)) ? ONE : UP_DOWN);
