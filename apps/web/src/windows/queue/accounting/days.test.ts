import { expect, test } from 'vitest';
import { accountedDays } from '../../../api/queue-accounting.ts';
import { csvOf, fileName, lastDays, sumOf } from './days.ts';

const days = accountedDays({
  days: [
    { date: '2026-03-01', upload: 5, download: 7 },
    { date: '2026-02-27', upload: 1, download: 2 },
  ],
});

test('days without traffic are days, too', () => {
  expect(lastDays(days, 4)).toEqual([
    { date: '2026-02-26', bytes: [0, 0] },
    { date: '2026-02-27', bytes: [1, 2] },
    { date: '2026-02-28', bytes: [0, 0] },
    { date: '2026-03-01', bytes: [5, 7] },
  ]);
  expect(lastDays([], 4)).toEqual([]);
  expect(sumOf(days)).toEqual([6, 9]);
});

test('as a file', () => {
  expect(csvOf(days)).toBe('date,upload-bytes,download-bytes\r\n2026-02-27,1,2\r\n2026-03-01,5,7\r\n');
  expect(csvOf(accountedDays({ days: [{ date: '2026-03-01', upload: 5 }] }))).toBe('date,bytes\r\n2026-03-01,5\r\n');
  expect(fileName('a/b c.d')).toBe('a_b_c.d-days.csv');
});
