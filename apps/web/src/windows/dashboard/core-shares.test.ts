import { expect, test } from 'vitest';
import { coreShares, meanParts } from './core-shares.ts';

const usages = [
  { cpu: '0', name: 'firewall', usage: 10 },
  { cpu: '0', name: 'networking', usage: 20 },
  { cpu: '0', name: 'unclassified', usage: 5 },
  { cpu: '0', name: 'idle', usage: 65 },
  { cpu: 'total', name: 'firewall', usage: 99 },
];

test('what the profiler does not name, and other programs, are other work', () => {
  const [first, second] = coreShares(
    new Map([
      [1, 12],
      [0, 80],
    ]),
    usages,
  );
  expect(first).toMatchObject({ core: 0, load: 80, parts: { firewall: 10, networking: 20, other: 50 } });
  expect(second).toMatchObject({ core: 1, load: 12, parts: { firewall: 0, other: 12 } });
});

test('a bar is never shorter than its parts', () => {
  const [only] = coreShares(new Map([[0, 3]]), usages);
  expect(only?.load).toBe(35);
  expect(Object.values(only?.parts ?? {}).reduce((sum, part) => sum + part, 0)).toBe(35);
});

test('the mean is that of all cores', () => {
  const shares = coreShares(
    new Map([
      [0, 35],
      [1, 0],
    ]),
    usages,
  );
  expect(meanParts(shares)).toMatchObject({ firewall: 5, networking: 10, queuing: 0, other: 2.5 });
  expect(meanParts([]).firewall).toBe(0);
});
