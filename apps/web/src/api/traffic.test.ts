import { expect, test } from 'vitest';
import { extend, type Sample, SPAN_MS, toSample } from './traffic.ts';

const at = (t: number): Sample => {
  const sample = toSample({ t });
  if (sample === undefined) throw new Error('a time is enough for a sample');
  return sample;
};

test('a sample is read whatever is missing or wrong in it', () => {
  const sample = toSample({
    t: 5,
    interfaces: { ether1: { rx: 8, tx: 9, rxPps: 1, txPps: 'x', fpRx: 4 }, ether2: null },
    cpu: [{ cpu: 1, load: 12.5 }, { cpu: 'a' }, null],
    throughput: { bps: 9, pps: null },
    drops: { 'no-route': 3, runt: 'many' },
  });
  expect(sample?.interfaces.get('ether1')).toMatchObject({ rx: 8, tx: 9, rxPps: 1, txPps: 0, fpRx: 4, fpTx: 0 });
  expect(sample?.interfaces.has('ether2')).toBe(false);
  expect([...(sample?.cpu ?? [])]).toEqual([[1, 12.5]]);
  expect(sample).toMatchObject({ throughput: { bps: 9, pps: 0 }, queued: { bytes: 0, packets: 0 }, connections: 0 });
  expect([...(sample?.drops ?? [])]).toEqual([
    ['no-route', 3],
    ['runt', 0],
  ]);
  expect(toSample({ interfaces: {} })).toBeUndefined();
  expect(toSample('x')).toBeUndefined();
});

test('samples come once, in order, and old ones go', () => {
  const samples = [at(1), at(1000)];
  extend(samples, [at(1000), at(2000)]);
  expect(samples.map((s) => s.t)).toEqual([1, 1000, 2000]);
  extend(samples, [at(SPAN_MS + 1500)]);
  expect(samples.map((s) => s.t)).toEqual([2000, SPAN_MS + 1500]);
});

test('when the router’s clock was set back, what is ahead of it goes', () => {
  const samples = [at(50_000), at(51_000), at(52_000)];
  extend(samples, [at(50_500)]);
  expect(samples.map((s) => s.t)).toEqual([50_000, 50_500]);
  extend(samples, [at(1_000), at(2_000)]);
  expect(samples.map((s) => s.t)).toEqual([1_000, 2_000]);
});

test('a history that ends at a sample held here says nothing new: the router was killed, and no clock was set back', () => {
  const samples = [at(50_000), at(51_000), at(52_000), at(53_000)];
  extend(samples, [at(49_000), at(50_000), at(51_000)]);
  expect(samples.map((s) => s.t)).toEqual([50_000, 51_000, 52_000, 53_000]);
  extend(samples, [at(95_000)]);
  expect(samples.map((s) => s.t)).toEqual([50_000, 51_000, 52_000, 53_000, 95_000]);
});
