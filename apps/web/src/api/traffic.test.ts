import { expect, test } from 'vitest';
import { extend, type Sample, SPAN_MS, toSample } from './traffic.ts';

const at = (t: number): Sample => ({ t, interfaces: new Map(), cpu: new Map() });

test('a sample is read by name and core; what is no number counts as nothing', () => {
  const sample = toSample({
    t: 5,
    interfaces: { ether1: { rx: 8, tx: 9, rxPps: 1, txPps: 'x' } },
    cpu: [{ cpu: 1, load: 12.5 }, { cpu: 'a' }],
  });
  expect(sample?.interfaces.get('ether1')).toEqual({ rx: 8, tx: 9, rxPps: 1, txPps: 0 });
  expect([...(sample?.cpu ?? [])]).toEqual([[1, 12.5]]);
  expect(toSample({ interfaces: {} })).toBeUndefined();
});

test('samples stay in order of time, without repetitions, for the span and no longer', () => {
  const first = extend([], [at(1), at(1000)]);
  expect(extend(first, [at(1000), at(2000)]).map((s) => s.t)).toEqual([1, 1000, 2000]);
  expect(extend(first, [at(SPAN_MS + 1000)]).map((s) => s.t)).toEqual([1000, SPAN_MS + 1000]);
});
