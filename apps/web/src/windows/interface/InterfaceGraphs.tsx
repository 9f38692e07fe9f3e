/** Bits and packets per second of one interface over the last minutes. */

import type { Row } from '../../api/row.ts';
import { type InterfaceRates, onTraffic, SPAN_MS, trafficSamples } from '../../api/traffic.ts';
import { useAppearanceKey } from '../../ui/appearance-key.ts';
import { Chart, type ChartData, type Line } from '../../ui/Chart.tsx';

const LINES: readonly Line[] = [
  { label: 'Tx', color: '--tx' },
  { label: 'Rx', color: '--rx', below: true },
];

function read(name: string, pick: (rates: InterfaceRates) => readonly [number, number]): ChartData {
  const samples = trafficSamples();
  const pairs = samples.map((sample) => {
    const rates = sample.interfaces.get(name);
    return rates === undefined ? undefined : pick(rates);
  });
  return {
    times: samples.map((sample) => sample.t),
    values: [pairs.map((pair) => pair?.[0] ?? null), pairs.map((pair) => pair?.[1] ?? null)],
  };
}

export function InterfaceGraphs({ row }: { readonly row: Row }) {
  const name = row.name ?? '';
  const appearance = useAppearanceKey();
  return (
    <div className="graph-pair">
      <Chart
        key={`bits ${name}`}
        title={`${name} bits`}
        unit="bit/s"
        lines={LINES}
        spanMs={SPAN_MS}
        appearance={appearance}
        read={() => read(name, (rates) => [rates.tx, rates.rx])}
        subscribe={onTraffic}
      />
      <Chart
        key={`packets ${name}`}
        title={`${name} packets`}
        unit="packets/s"
        lines={LINES}
        spanMs={SPAN_MS}
        appearance={appearance}
        read={() => read(name, (rates) => [rates.txPps, rates.rxPps])}
        subscribe={onTraffic}
      />
    </div>
  );
}
