/** Bytes of queues per day, which the router keeps over restarts. */
import type { QueueAccounting, queueAccounting as route } from '@tollway/protocol/queue-accounting';
import { hasOneDirection } from '@tollway/protocol/queue-menus';
import { ask } from './rest.ts';

/** Bytes of one day. */
export interface AccountedDay {
  /** `2026-11-22`, by the clock of the router. */
  readonly date: string;
  /** Bytes of upload and download; one number for a node of a queue tree. */
  readonly bytes: readonly number[];
}

/** The days of a response, oldest first. */
export function accountedDays(answer: QueueAccounting): readonly AccountedDay[] {
  return answer
    .map(({ day, menu, upload, download, total }) => ({
      date: day,
      bytes: hasOneDirection(menu) ? [Number(total)] : [Number(upload), Number(download)],
    }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

const DAY_MS = 86_400_000;
/** Number of requested days. */
const ASKED = 400;

/** URL of the days of a queue, as JSON or CSV. It includes one more day, as the router may be in another time zone. */
export function accountingAddress(
  queue: string,
  format: 'json' | 'csv',
  now = Date.now(),
): `${typeof route.path}?${string}` {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const [from, to] = [day(now - ASKED * DAY_MS), day(now + DAY_MS)];
  return `/api/v1/queue-accounting?${new URLSearchParams({ queue, from, to, format })}`;
}

/** @throws RequestError */
export async function queueAccounting(queue: string): Promise<readonly AccountedDay[]> {
  return accountedDays(await ask<typeof route>('GET', accountingAddress(queue, 'json')));
}
