import { expect, it } from 'vitest';
import type { InterfaceStats } from '../../src/agent/messages.js';
import { throughput } from '../../src/live/traffic.js';

const sending = (tx: number, own: number) =>
  ({ rates: { 'tx-bps': 8 * tx, 'tx-pps': tx, 'own-tx-bps': 8 * own, 'own-tx-pps': own } }) as InterfaceStats;

it('the throughput is what leaves all ports without what the router made itself', () => {
  expect(throughput({ interfaces: [sending(100, 10), sending(50, 50), sending(7, 0)] })).toEqual({ bps: 776, pps: 97 });
});
