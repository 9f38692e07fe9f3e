import { menuByPath, menuColumn } from '@tollway/schema';
import { expect, test } from 'vitest';
import { SlidingWindow } from './sliding-window.ts';
import { axisLabels, scaleFor, spanOf, withUnit } from './units.ts';

test('rates get the prefix under which they have one to three digits', () => {
  expect(withUnit(0, 'bps')).toBe('0 bps');
  expect(withUnit(999, 'bps')).toBe('999 bps');
  expect(withUnit(1500, 'bps')).toBe('1.5 kbps');
  expect(withUnit(7_477_000_000, 'bps')).toBe('7.4 Gbps');
  expect(withUnit(14_880_952, 'p/s')).toBe('14 880 952 p/s');
  expect(withUnit(0.25, 'p/s')).toBe('0.3 p/s');
  expect(withUnit(1, 'packets')).toBe('1 packet');
  expect(withUnit(13_300, 'B')).toBe('12.9 KiB');
  expect(withUnit(2_000_000, 'bit')).toBe('2.00 Mbit');
  expect(withUnit(43.26, '%')).toBe('43.3%');
});

test('read-outs say the same as tables do', () => {
  const cell = (name: string, value: number) => {
    const shows = menuColumn(menuByPath('/queue/simple') ?? { props: {} }, name);
    return shows?.kind.display?.(String(value));
  };
  for (const value of [0, 1, 999, 1000, 13_250, 1_048_575, 19_999_999, 4_294_967_296]) {
    expect(withUnit(value, 'bps')).toBe(cell('rate.upload', value));
    expect(withUnit(value, 'B')).toBe(cell('queued-bytes.upload', value));
    expect(withUnit(value, 'p/s')).toBe(`${cell('packet-rate.upload', value)} p/s`);
  }
});

test('an axis of bytes counts in KiB', () => {
  expect(axisLabels([0, 2048, 4096], scaleFor(4096, 'B'))).toEqual(['0', '2', '4']);
  expect(scaleFor(4096, 'B').prefix).toBe('Ki');
});

test('an axis has one prefix, and decimals only where ticks need them', () => {
  expect(axisLabels([0, 2e8, 4e8], scaleFor(4e8))).toEqual(['0', '200', '400']);
  expect(axisLabels([0, 5e8, 1e9, 1.5e9], scaleFor(1.5e9))).toEqual(['0.0', '0.5', '1.0', '1.5']);
  expect(axisLabels([-2000, 0, 2000], scaleFor(2000))).toEqual(['2', '0', '2']);
  expect(axisLabels([0, 2.5, 5, 7.5, 10], scaleFor(10))).toEqual(['0.0', '2.5', '5.0', '7.5', '10.0']);
  expect(axisLabels([0, 2.5e-4, 5e-4, 7.5e-4, 1e-3], scaleFor(1e-3, 's'))).toEqual([
    '0.00',
    '0.25',
    '0.50',
    '0.75',
    '1.00',
  ]);
  expect(axisLabels([], scaleFor(0))).toEqual([]);
});

test('an axis of time spans all samples that are held, also those from before an outage', () => {
  const seconds = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  expect(spanOf([], 300_000)).toBe(60);
  expect(spanOf(seconds(0, 2), 300_000)).toBe(60);
  expect(spanOf(seconds(0, 61), 300_000)).toBe(90);
  expect(spanOf(seconds(0, 400), 300_000)).toBe(300);
  expect(spanOf([...seconds(0, 260), ...seconds(300, 300)], 300_000)).toBe(300);
  expect(spanOf([...seconds(0, 90), ...seconds(130, 140)], 300_000)).toBe(180);
});

test('what came before a sleep of hours is forgotten, and the axis is as short as after a start', () => {
  const window = new SlidingWindow(1, 300_000);
  const append = (times: number[]) => window.append({ times, values: [times.map(() => 1)] });
  append([0, 1_000, 2_000]);
  append([7_200_000]);
  append([7_201_000]);
  expect(spanOf(window.times, 300_000)).toBe(60);
  // Nor does the hole stay when the samples in front of it have gone.
  append([7_300_000, 7_501_500]);
  expect(window.times).toEqual([7_300, 7_300.001, 7_501.5]);
});
