import { QUEUE_STATISTICS } from '@tollway/schema';
import type { Part, QueueDump } from '../agent/queues.js';
import type { QueueFindings } from '../lint/queue-findings.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from './live-rows.js';
import type { LiveValues } from './stored-rows.js';

/** Live values of the queues of a menu, from their counters. */
export type QueueValues = (dump: QueueDump) => LiveValues;

/** Live values whose properties each have one number. */
export const singleValues =
  (part: Part): QueueValues =>
  (dump) => ({
    properties: QUEUE_STATISTICS,
    value: (id, property) => dump.value(id, part, property)?.toString(),
    sortNumbers: (column) =>
      QUEUE_STATISTICS.includes(column) ? (id) => Number(dump.value(id, part, column)) : undefined,
  });

/** Counters of queues, and the findings about their settings. */
export const countedQueues =
  (live: LiveState, queueFindings: QueueFindings, valuesOf: QueueValues): ReadLive =>
  async (maxAgeMs) => {
    await queueFindings.refresh();
    const dump = await live.queues(maxAgeMs);
    return () => ({ values: dump && valuesOf(dump), hintOf: ({ id }) => queueFindings.of(id) });
  };
