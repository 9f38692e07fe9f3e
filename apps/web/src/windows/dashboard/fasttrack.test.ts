import { expect, test } from 'vitest';
import { toSample } from '../../api/traffic.ts';
import { fasttrackText } from './fasttrack.ts';

const sample = (fasttrackShare: number, ...rates: readonly number[]) =>
  toSample({ t: 1, fasttrackShare, interfaces: Object.fromEntries(rates.map((rxPps, at) => [`*${at}`, { rxPps }])) });

test('of no packets there is no share of FastTrack', () => {
  expect(fasttrackText(undefined)).toBe('–');
  expect(fasttrackText(sample(0))).toBe('–');
  expect(fasttrackText(sample(0, 0, 0))).toBe('–');
  expect(fasttrackText(sample(0, 0, 3))).toBe('0.0%');
  expect(fasttrackText(sample(0.873, 900, 3))).toBe('87.3%');
  // The second that the rates are of was over before the packets came.
  expect(fasttrackText(sample(0.5, 0))).toBe('50.0%');
});
