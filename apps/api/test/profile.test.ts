import { expect, it } from 'vitest';
import type { CoreStats, Stats } from '../src/agent/messages.js';
import { profile } from '../src/state/profile.js';

const core = (cpu: number, cycles: number, ethernet: number, firewall: number): CoreStats => ({
  cpu,
  cycles,
  'idle-cycles': cycles - ethernet - firewall,
  classes: [
    { name: 'ethernet', cycles: ethernet },
    { name: 'firewall', cycles: firewall },
    { name: 'unclassified', cycles: 0 },
  ],
});

const stats = (...cores: CoreStats[]) => ({ cores }) as unknown as Stats;

const text = (before: Stats, after: Stats, cpu: string) =>
  profile(before, after, cpu).map((row) => `${row.cpu} ${row.name} ${row.usage}`);

it('gives each core its own time, and the whole their average', () => {
  const before = stats(core(0, 1000, 100, 0), core(3, 1000, 0, 50));
  const after = stats(core(0, 2000, 300, 100), core(3, 2000, 0, 50));
  expect(text(before, after, '0')).toEqual(['0 idle 70', '0 ethernet 20', '0 firewall 10', '0 unclassified 0']);
  expect(text(before, after, '3')[0]).toBe('3 idle 100');
  expect(text(before, after, 'total').slice(0, 3)).toEqual(['total idle 85', 'total ethernet 10', 'total firewall 5']);
  expect(profile(before, after, 'all')).toHaveLength(8);
  expect(profile(before, after, '1')).toEqual([]);
});

it('knows a core to which a worker has come for the first time', () => {
  const before = stats(core(0, 1000, 100, 0));
  const after = stats(core(0, 2000, 100, 0), core(1, 2000, 250, 0));
  expect(text(before, after, '1')).toEqual(['1 idle 75', '1 ethernet 25', '1 firewall 0', '1 unclassified 0']);
  expect(text(before, after, 'total')[0]).toBe('total idle 87.5');
});

it('says nothing of no time, nor across a restart of the workers', () => {
  const at = stats(core(0, 1000, 100, 0));
  expect(profile(at, at, 'all')).toEqual([]);
  expect(profile(at, stats(core(0, 10, 1, 0)), 'total')).toEqual([]);
  expect(profile(stats(), at, 'all')).toEqual([]);
});
