/** The lines of the graphs of one interface, extracted from the samples of all interfaces. */
import type { InterfaceSample } from '@tollway/protocol/live/traffic';
import { samplesAfter } from '../../api/traffic.ts';
import type { Points } from '../../ui/Chart.tsx';

/** Bits or packets per second: Tx, Rx, and the parts of both that took the fast path. */
type Pick = (rates: InterfaceSample) => readonly [number, number, number, number];

export const bits: Pick = (rates) => [rates.tx, rates.rx, rates.fpTx, rates.fpRx];
export const packets: Pick = (rates) => [rates.txPps, rates.rxPps, rates.fpTxPps, rates.fpRxPps];

/** Points of one interface after a time; none for samples without the interface. */
export function interfacePoints(id: string, pick: Pick, afterMs: number): Points {
  const samples = samplesAfter(afterMs);
  const picked = samples.map((sample) => {
    const rates = sample.interfaces.get(id);
    return rates === undefined ? undefined : pick(rates);
  });
  return {
    times: samples.map((sample) => sample.t),
    values: [0, 1, 2, 3].map((which) => picked.map((values) => values?.[which] ?? null)),
  };
}
