import { expect, test } from 'vitest';
import { type Facts, healthFindings, wellText } from './router-health.ts';

const sample = (cpu: readonly number[], drops: Record<string, number> = {}) => ({
  cpu: new Map(cpu.map((load, core) => [core, load])),
  drops: new Map(Object.entries(drops)),
});

const WELL: Facts = {
  heard: 'now',
  engine: 'synced',
  alarms: [],
  lostLinks: [],
  recent: Array.from({ length: 10 }, () => sample([20, 30])),
  connections: 10,
  maxConnections: 1000,
  fullestShare: 0,
  freeMemory: 50,
  totalMemory: 100,
};

const texts = (part: Partial<Facts>) => healthFindings({ ...WELL, ...part }).map((finding) => finding.text);

test('nothing wrong, nothing said; what is unknown is not wrong', () => {
  expect(healthFindings(WELL)).toEqual([]);
  expect(texts({ recent: [], maxConnections: 0, totalMemory: 0, freeMemory: 0 })).toEqual([]);
});

test('what the router says must be looked at comes first, and opens its menu', () => {
  const rule =
    'A rule with action drop cannot work and lets packets pass: /ip/firewall/filter *9 (chain forward): why.';
  expect(healthFindings({ ...WELL, alarms: ['The database is gone.', rule], lostLinks: ['ether1'] })).toEqual([
    { level: 'trouble', text: 'The database is gone.', opens: '/log' },
    { level: 'trouble', text: rule, opens: '/ip/firewall/filter' },
    { level: 'warning', text: 'ether1 has no link', opens: '/interface' },
  ]);
  expect(texts({ alarms: Array.from({ length: 8 }, () => rule) }).at(-1)).toBe('3 more are in the log');
});

test('one full core counts whatever the average, and only when it lasts', () => {
  const full = sample([10, 99]);
  expect(texts({ recent: Array.from({ length: 5 }, () => full) })).toEqual(['CPU 1 is fully busy']);
  expect(texts({ recent: [sample([10, 20]), full, full, full, full] })).toEqual([]);
  expect(texts({ recent: Array.from({ length: 5 }, () => sample([99, 99])) })).toEqual(['All cores are fully busy']);
});

test('beside cores that are full for a moment, that all is well claims no reserve', () => {
  expect(texts({ recent: Array.from({ length: 4 }, () => sample([100, 100])) })).toEqual([]);
  expect(wellText('7')).toBe(
    'Forwarding by configuration 7; no link is lost, and no core has been fully busy for 5 s.',
  );
});

test('drops that the configuration wants, and packets that have been dealt with, are no trouble', () => {
  const quiet = { 'arp-consumed': 5, 'echo-answered': 100, 'filter-drop': 9000, 'queue-full': 50, 'no-route': 2 };
  expect(texts({ recent: [sample([1], quiet)] })).toEqual([]);
  expect(texts({ recent: [sample([1], { ...quiet, 'connection-table-full': 40 })] })).toEqual([
    'Dropping 40 p/s: connection table full',
  ]);
});

test('the table of one worker may be full long before that of all', () => {
  expect(texts({ connections: 100, fullestShare: 0.79 })).toEqual([]);
  expect(texts({ connections: 500, fullestShare: 0.999 })).toEqual(['The connection table of one worker is 99% full']);
  expect(texts({ connections: 960, fullestShare: 0.98 })).toEqual(['The connection table is 98% full']);
});

test('trouble comes before warnings', () => {
  const found = healthFindings({
    ...WELL,
    engine: 'down',
    lostLinks: ['ether2', 'ether3'],
    connections: 960,
    freeMemory: 1,
  });
  expect(found.map(({ level, text }) => [level, text])).toEqual([
    ['trouble', 'The packet engine does not answer'],
    ['trouble', 'The connection table is 96% full'],
    ['warning', 'Less than 5% of the memory is free'],
    ['warning', 'ether2, ether3 have no link'],
  ]);
  expect(found.every(({ opens }) => opens?.startsWith('/'))).toBe(true);
});

test('a router that does not answer is never well, and nothing old is judged', () => {
  const [lost, ...more] = healthFindings({ ...WELL, heard: 'no-more', lostLinks: ['ether1'] });
  expect(lost).toMatchObject({ level: 'trouble', text: expect.stringMatching(/does not answer/) });
  expect(more).toEqual([]);
  const problem = 'The database is damaged. Stop the router.';
  expect(texts({ heard: 'no-more', problem })).toEqual([`${problem} What stands here is old`]);
  expect(texts({ heard: 'now', problem })).toEqual([]);
  expect(healthFindings({ ...WELL, heard: 'not-yet' }).map(({ level }) => level)).toEqual(['warning']);
  expect(texts({ heard: 'logged-out', lostLinks: ['ether1'] })).toEqual([expect.stringContaining('session has ended')]);
});
