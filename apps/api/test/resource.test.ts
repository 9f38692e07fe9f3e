import { cpus } from 'node:os';
import { describe, expect, it, test } from 'vitest';
import { coreTicks, Processor } from '../src/state/processor.js';
import { clockOf } from '../src/view/resource.js';

test('the clock is the first core’s, in whole MHz; nothing where the kernel does not tell it', () => {
  expect(
    clockOf('processor\t: 0\ncpu MHz\t\t: 2445.430\nbogomips\t: 4890.86\n\nprocessor\t: 1\ncpu MHz\t\t: 900.000\n'),
  ).toBe(2445);
  expect(clockOf('processor\t: 0\nBogoMIPS\t: 243.75\n')).toBe(0);
  expect(clockOf('')).toBe(0);
});

describe('time of the cores', () => {
  it('is read from /proc/stat, guests and the total line left out', () => {
    const stat = 'cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 1 20 60 5 3 1 0 4 0\ncpu1 0 0 0 100 0 0 0 0 0 0\nintr 5 cpu7\n';
    expect(coreTicks(stat)).toEqual([
      { total: 100, idle: 60, irq: 4, disk: 5 },
      { total: 100, idle: 100, irq: 0, disk: 0 },
    ]);
  });

  it('gives loads of every core between 0 and 100', async () => {
    const cores = await new Processor().cores();
    expect(cores).toHaveLength(cpus().length);
    for (const { load, irq, disk } of cores) {
      for (const share of [load, irq, disk]) expect(share).toBeGreaterThanOrEqual(0);
      expect(load).toBeLessThanOrEqual(100);
      expect(irq).toBeLessThanOrEqual(load);
    }
  });
});
