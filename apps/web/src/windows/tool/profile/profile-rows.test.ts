import { expect, test } from 'vitest';
import { toUsages } from '../../../api/profile.ts';
import { busyCores, coresOf, profileOf } from './profile-rows.ts';

const rows = toUsages([
  { name: 'firewall', cpu: '0', usage: '10.0' },
  { name: 'idle', cpu: '0', usage: '90' },
  { name: 'firewall', cpu: '1', usage: '30' },
  { name: 'idle', cpu: '1', usage: '70' },
]);

test('the total is the mean over the cores', () => {
  expect(profileOf(rows, 'total')).toEqual([
    { name: 'idle', cpu: 'total', usage: 80 },
    { name: 'firewall', cpu: 'total', usage: 20 },
  ]);
});

test('one core, or all of them, highest first', () => {
  expect(coresOf(rows)).toEqual(['0', '1']);
  expect(profileOf(rows, '1').map((row) => [row.name, row.usage])).toEqual([
    ['idle', 70],
    ['firewall', 30],
  ]);
  expect(profileOf(rows, 'all').map((row) => row.usage)).toEqual([90, 70, 30, 10]);
});

test('a total that the server sends is taken as it is', () => {
  const total = toUsages([
    { name: 'idle', cpu: 'total', usage: '5' },
    { name: 'idle', cpu: '0', usage: '9' },
  ]);
  expect(profileOf(total, 'total')).toEqual([{ name: 'idle', cpu: 'total', usage: 5 }]);
});

test('a core is busy with everything but idle', () => {
  expect(busyCores(rows)).toEqual([
    { core: '0', busy: 10 },
    { core: '1', busy: 30 },
  ]);
});
