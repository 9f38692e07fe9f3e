import { QUEUE_STATISTICS } from '@tollway/schema';
import type { Part, QueueDump } from '../agent/queues.js';
import type { QueueFindings } from '../lint/queue-findings.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from './live-rows.js';
import type { LiveValues } from './stored-rows.js';

/** Cells for the counters of the queues of a menu. */
export type QueueValues = (dump: QueueDump) => LiveValues;

/** Live values of which each property has one number. */
export const singleValues =
  (part: Part): QueueValues =>
  (dump) => ({
    properties: QUEUE_STATISTICS,
    value: (id, property) => dump.value(id, part, property)?.toString(),
    sortNumbers: (column) =>
      QUEUE_STATISTICS.includes(column) ? (id) => Number(dump.value(id, part, column)) : undefined,
  });

/** Counters of queues, and what is said of their settings. */
export const countedQueues =
  (live: LiveState, queueFindings: QueueFindings, valuesOf: QueueValues): ReadLive =>
  async (maxAgeMs) => {
    await queueFindings.refresh();
    const dump = await live.queues(maxAgeMs);
    return () => ({ values: dump && valuesOf(dump), hintOf: ({ id }) => queueFindings.of(id) });
  };
