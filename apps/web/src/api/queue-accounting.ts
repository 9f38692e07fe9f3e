/** What queues carried each day, which the router keeps over restarts. */
import { isObject, request } from './rest.ts';

/** Bytes of one day. */
export interface AccountedDay {
  /** `2026-11-22`, by the clock of the router. */
  readonly date: string;
  /** Upload and download; a node of a queue tree has one number. */
  readonly bytes: readonly number[];
}

const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** Decodes the answer: the oldest day first. */
export function accountedDays(answer: unknown): readonly AccountedDay[] {
  const days = isObject(answer) && Array.isArray(answer.days) ? answer.days : [];
  return days
    .filter(isObject)
    .map(({ date, upload, download }) => ({
      date: typeof date === 'string' ? date : '',
      bytes: download === undefined ? [number(upload)] : [number(upload), number(download)],
    }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

/** @throws RequestError */
export async function queueAccounting(menu: string, queue: string): Promise<readonly AccountedDay[]> {
  return accountedDays(await request('GET', `/api/v1/queues/accounting?${new URLSearchParams({ menu, queue })}`));
}
