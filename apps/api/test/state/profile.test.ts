import { expect, it } from 'vitest';
import type { CoreStats, Stats } from '../../src/agent/messages.js';
import {
  handedOver,
  outOfOrder,
  type ProfileReading,
  profileRows as profileOf,
  ratePerSecond,
} from '../../src/state/profile.js';

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

interface Told {
  readonly cores: CoreStats[];
  /** Busy and all ticks by the kernel, by core. */
  readonly kernel: Record<number, [busy: number, total: number]>;
}

const stats = (...cores: CoreStats[]): Told => ({ cores, kernel: {} });

const reading = ({ cores, kernel }: Told): ProfileReading => ({
  stats: { cores } as unknown as Stats,
  coreTimes: Object.entries(kernel).map(([cpu, [busy, total]]) => ({
    cpu: Number(cpu),
    total,
    idle: total - busy,
    irq: 0,
    disk: 0,
  })),
  at: 0,
});

const profile = (before: Told, after: Told, cpu: string) => profileOf(reading(before), reading(after), cpu);

const text = (before: Told, after: Told, cpu: string) =>
  profile(before, after, cpu).map((row) => `${row.cpu} ${row.name} ${row.usage}`);

it('gives each core its own time, and the whole their average', () => {
  const before = stats(core(0, 1000, 100, 0), core(3, 1000, 0, 50));
  const after = stats(core(0, 2000, 300, 100), core(3, 2000, 0, 50));
  expect(text(before, after, '0')).toEqual([
    '0 idle 70',
    '0 ethernet 20',
    '0 firewall 10',
    '0 other 0',
    '0 unclassified 0',
  ]);
  expect(text(before, after, '3')[0]).toBe('3 idle 100');
  expect(text(before, after, 'total').slice(0, 3)).toEqual(['total idle 85', 'total ethernet 10', 'total firewall 5']);
  expect(profile(before, after, 'all')).toHaveLength(10);
  expect(profile(before, after, '1')).toEqual([]);
});

it('knows a core to which a worker has come for the first time', () => {
  const before = stats(core(0, 1000, 100, 0));
  const after = stats(core(0, 2000, 100, 0), core(1, 2000, 250, 0));
  expect(text(before, after, '1')).toEqual([
    '1 idle 75',
    '1 ethernet 25',
    '1 firewall 0',
    '1 other 0',
    '1 unclassified 0',
  ]);
  expect(text(before, after, 'total')[0]).toBe('total idle 87.5');
});

it('says nothing of no time, nor across a restart of the workers', () => {
  const at = stats(core(0, 1000, 100, 0));
  expect(profile(at, at, 'all')).toEqual([]);
  expect(profile(at, stats(core(0, 10, 1, 0)), 'total')).toEqual([]);
  expect(profile(stats(), at, 'all')).toEqual([]);
});

it('tells what others use from what is idle', () => {
  const at = (cycles: number, ethernet: number, kernel: Told['kernel']): Told => ({
    cores: [core(0, cycles, ethernet, 0), core(1, cycles, ethernet, 0)],
    kernel,
  });
  const before = at(1000, 100, { 0: [50, 400], 1: [10, 400] });
  // By the kernel core 0 was busy all the time, core 1 a little less than its worker says.
  const after = at(2000, 300, { 0: [150, 500], 1: [28, 500] });
  expect(text(before, after, '0').slice(0, 3)).toEqual(['0 other 80', '0 ethernet 20', '0 firewall 0']);
  expect(text(before, after, '1').slice(0, 2)).toEqual(['1 idle 80', '1 ethernet 20']);
  expect(text(before, after, 'total').slice(0, 3)).toEqual(['total idle 40', 'total other 40', 'total ethernet 20']);
  const sum = profile(before, after, '0').reduce((all, { usage }) => all + Number(usage), 0);
  expect(sum).toBe(100);
});

it('gives what workers count per second, summed over them', () => {
  const at = (ms: number, ...packets: number[]): ProfileReading => ({
    stats: {
      workers: packets.map((count) => ({ 'handover-packets': count, 'out-of-order-packets': 2 * count })),
    } as unknown as Stats,
    coreTimes: [],
    at: ms,
  });
  expect(ratePerSecond(handedOver, at(1000, 100, 50), at(3000, 500, 150))).toBe(250);
  expect(ratePerSecond(outOfOrder, at(1000, 100, 50), at(3000, 500, 150))).toBe(500);
  // An agent that has begun anew counts from 0.
  expect(ratePerSecond(handedOver, at(1000, 100, 50), at(3000, 10, 0))).toBe(0);
  expect(ratePerSecond(handedOver, at(1000, 1), at(1000, 2))).toBe(0);
});
