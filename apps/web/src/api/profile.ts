/** CPU time by class of work. Measured only while somebody listens. */
import type { ProfileRow } from '@tollway/protocol/live/profile';
import { live } from './live.ts';
import { Topic } from './topic.ts';

export interface Usage {
  readonly name: string;
  /** Core number, or `total`. */
  readonly cpu: string;
  /** Percent of one core, or of all cores for `total`. */
  readonly usage: number;
}

/** The rows of a message, as numbers. */
export const toUsages = (rows: readonly ProfileRow[]): readonly Usage[] =>
  rows.map(({ name, cpu, usage }) => ({ name, cpu, usage: Number(usage) }));

let usages: readonly Usage[] = [];
let handovers = 0;
let outOfOrder = 0;

const topic = new Topic(live, { topic: 'profile' }, (message) => {
  if (message.op !== 'profile') return;
  usages = toUsages(message.rows);
  handovers = message.handovers;
  outOfOrder = message.outOfOrder;
});

/** The newest measurement: a row for each class of each core. */
export function profileUsages(): readonly Usage[] {
  return usages;
}

/** Packets per second that workers hand over to other workers, by the newest measurement. */
export function profileHandovers(): number {
  return handovers;
}

/** TCP segments per second that arrive out of order, by the newest measurement. */
export function profileOutOfOrder(): number {
  return outOfOrder;
}

/** Calls `listener` after each measurement. */
export const onProfile = (listener: () => void): (() => void) => topic.listen(listener);
