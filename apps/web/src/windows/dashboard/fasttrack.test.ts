import { expect, test } from 'vitest';
import { toSample } from '../../api/traffic.ts';
import { fasttrackText } from './fasttrack.ts';

const rates = { rx: 0, tx: 0, rxPps: 0, txPps: 0, fpRx: 0, fpTx: 0, fpRxPps: 0, fpTxPps: 0 };
const sample = (fasttrackShare: number, ...rxPps: readonly number[]) =>
  toSample({
    t: 1,
    fasttrackShare,
    interfaces: Object.fromEntries(rxPps.map((rxPps, at) => [`*${at}`, { ...rates, rxPps }])),
    throughput: { bps: 0, pps: 0 },
    queued: { bytes: 0, packets: 0 },
    cpu: [],
    connections: 0,
    drops: {},
  });

test('of no packets there is no share of FastTrack', () => {
  expect(fasttrackText(undefined)).toBe('–');
  expect(fasttrackText(sample(0))).toBe('–');
  expect(fasttrackText(sample(0, 0, 0))).toBe('–');
  expect(fasttrackText(sample(0, 0, 3))).toBe('0.0%');
  expect(fasttrackText(sample(0.873, 900, 3))).toBe('87.3%');
  // The second that the rates are of was over before the packets came.
  expect(fasttrackText(sample(0.5, 0))).toBe('50.0%');
});
