/** Bits and packets per second of one interface over the last minutes. */

import type { Row } from '../../api/row.ts';
import { onTraffic, SPAN_MS } from '../../api/traffic.ts';
import { useAppearanceKey } from '../../ui/appearance-key.ts';
import { Chart, type Line } from '../../ui/Chart.tsx';
import { bits, interfacePoints, packets } from './interface-points.ts';

const LINES: readonly Line[] = [
  { label: 'Tx', color: '--tx', filled: true },
  { label: 'Rx', color: '--rx', filled: true, below: true },
  { label: 'FP Tx', color: '--text', dashed: true },
  { label: 'FP Rx', color: '--chart-4', dashed: true, below: true },
];

const GRAPHS = [
  { title: 'Bits', unit: 'bps', pick: bits },
  { title: 'Packets', unit: 'p/s', pick: packets },
] as const;

export function InterfaceGraphs({ row: { '.id': id = '', name = '' } }: { readonly row: Row }) {
  const appearance = useAppearanceKey();
  return (
    <div className="graph-pair">
      {GRAPHS.map(({ title, unit, pick }) => (
        <Chart
          key={`${title} ${id}`}
          title={`${name} ${title.toLowerCase()}`}
          unit={unit}
          lines={LINES}
          spanMs={SPAN_MS}
          appearance={appearance}
          read={(afterMs) => interfacePoints(id, pick, afterMs)}
          subscribe={onTraffic}
        />
      ))}
    </div>
  );
}
