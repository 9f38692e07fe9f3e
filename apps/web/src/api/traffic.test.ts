import type { TrafficSample } from '@tollway/protocol/live/traffic';
import { expect, test } from 'vitest';
import { extend, type Sample, SPAN_MS, toSample } from './traffic.ts';

const sent = (t: number): TrafficSample => ({
  t,
  interfaces: {},
  throughput: { bps: 9, pps: 1 },
  queued: { bytes: 0, packets: 0 },
  cpu: [],
  connections: 0,
  fasttrackShare: 0,
  drops: {},
});
const at = (t: number): Sample => toSample(sent(t));

test('a sample is held by interface, core and drop reason', () => {
  const rates = { rx: 8, tx: 9, rxPps: 1, txPps: 2, fpRx: 4, fpTx: 3, fpRxPps: 1, fpTxPps: 0 };
  const sample = toSample({
    ...sent(5),
    interfaces: { '*1': rates },
    cpu: [{ cpu: 1, load: 12.5 }],
    drops: { 'no-route': 3 },
  });
  expect(sample).toEqual({
    ...sent(5),
    interfaces: new Map([['*1', rates]]),
    cpu: new Map([[1, 12.5]]),
    drops: new Map([['no-route', 3]]),
  });
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
