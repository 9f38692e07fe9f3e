/** Where the time of the cores goes, by class of work. Measured only while somebody looks. */
import { live } from './live.ts';
import { Topic } from './topic.ts';

export interface Usage {
  readonly name: string;
  /** Core number, `total`, or empty when the server does not say. */
  readonly cpu: string;
  /** Percent of one core, or of all cores for `total`. */
  readonly usage: number;
}

/** Decodes the rows of a message of the `profile` topic. */
export function toUsages(rows: unknown): readonly Usage[] {
  if (!Array.isArray(rows)) return [];
  const usages: Usage[] = [];
  for (const row of rows) {
    if (typeof row !== 'object' || row === null) continue;
    const { name, cpu, usage }: { name?: unknown; cpu?: unknown; usage?: unknown } = row;
    const value = Number(usage);
    if (typeof name !== 'string' || !Number.isFinite(value)) continue;
    usages.push({ name, cpu: cpu === undefined ? '' : String(cpu), usage: value });
  }
  return usages;
}

let usages: readonly Usage[] = [];
let handovers = 0;
let outOfOrder = 0;

const topic = new Topic(live, { topic: 'profile' }, (message) => {
  if (message.op !== 'profile') return;
  usages = toUsages(message.rows);
  handovers = Number(message.handovers) || 0;
  outOfOrder = Number(message.outOfOrder) || 0;
});

/** The newest measurement: a row for each class of each core. */
export function profileUsages(): readonly Usage[] {
  return usages;
}

/** Packets per second that workers give to others, by the newest measurement. */
export function profileHandovers(): number {
  return handovers;
}

/** TCP segments per second that come out of order, by the newest measurement. */
export function profileOutOfOrder(): number {
  return outOfOrder;
}

/** Calls `listener` on each new measurement; it runs while somebody listens. */
export const onProfile = (listener: () => void): (() => void) => topic.listen(listener);
