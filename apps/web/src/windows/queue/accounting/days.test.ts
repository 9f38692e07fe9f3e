import { expect, test } from 'vitest';
import { accountedDays, accountingAddress } from '../../../api/queue-accounting.ts';
import { lastDays, sumOf } from './days.ts';

const days = accountedDays([
  { '.id': '*1', menu: '/queue/simple', name: 'a', day: '2026-03-01', upload: '5', download: '7', total: '12' },
  { '.id': '*1', menu: '/queue/simple', name: 'a', day: '2026-02-27', upload: '1', download: '2', total: '3' },
]);

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

test('a node of a queue tree has one number a day', () => {
  const [day] = accountedDays([
    { '.id': '*2', menu: '/queue/tree', name: 'b', day: '2026-03-01', upload: '0', download: '9', total: '9' },
  ]);
  expect(day?.bytes).toEqual([9]);
});

test('all days that are kept are asked for', () => {
  expect(accountingAddress('*1A', 'csv', Date.parse('2026-11-22T12:00:00Z'))).toBe(
    '/api/v1/queue-accounting?queue=*1A&from=2025-10-18&to=2026-11-23&format=csv',
  );
});
