import { cpus } from 'node:os';
import { describe, expect, it, test } from 'vitest';
import { clockOf } from '../../src/menus/system/resource.js';
import { CpuLoad, loads, parseCoreTimes } from '../../src/state/cpu-load.js';

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
    expect(parseCoreTimes(stat)).toEqual([
      { cpu: 0, total: 100, idle: 60, irq: 4, disk: 5 },
      { cpu: 1, total: 100, idle: 100, irq: 0, disk: 0 },
    ]);
  });

  it('belongs to the core of its number, whichever cores go offline and come online', () => {
    const before = parseCoreTimes('cpu0 0 0 0 100 0 0 0 0\ncpu1 500 0 0 0 0 0 0 0\ncpu3 900 0 0 0 0 0 0 0\n');
    const now = parseCoreTimes('cpu0 25 0 0 175 0 0 0 0\ncpu2 700 0 0 0 0 0 0 0\ncpu3 950 0 20 20 10 0 0 0\n');
    expect(loads(before, now)).toEqual([
      { cpu: 0, load: 25, irq: 0, disk: 0 },
      { cpu: 2, load: 0, irq: 0, disk: 0 },
      { cpu: 3, load: 70, irq: 0, disk: 10 },
    ]);
  });

  it('gives loads of every core between 0 and 100', async () => {
    const cores = await new CpuLoad().cores();
    expect(cores).toHaveLength(cpus().length);
    for (const { load, irq, disk } of cores) {
      for (const share of [load, irq, disk]) expect(share).toBeGreaterThanOrEqual(0);
      expect(load).toBeLessThanOrEqual(100);
      expect(irq).toBeLessThanOrEqual(load);
    }
  });
});
