/** Throughput of the router over the last minutes. */
import { onTraffic, type Sample, SPAN_MS, samplesAfter } from '../../api/traffic.ts';
import { useAppearanceKey } from '../../ui/appearance-key.ts';
import { Chart, type Line, type Points } from '../../ui/Chart.tsx';
import { Tile } from './Tile.tsx';

const BITS: readonly Line[] = [{ label: 'Sent', color: '--tx', filled: true }];
const PACKETS: readonly Line[] = [{ label: 'Sent', color: '--text' }];

function points(pick: (sample: Sample) => number, afterMs: number): Points {
  const samples = samplesAfter(afterMs);
  return { times: samples.map((sample) => sample.t), values: [samples.map(pick)] };
}

const bits = (afterMs: number) => points((sample) => sample.throughput.bps, afterMs);
const packets = (afterMs: number) => points((sample) => sample.throughput.pps, afterMs);

export function ThroughputTile() {
  const appearance = useAppearanceKey();
  const common = { spanMs: SPAN_MS, appearance, subscribe: onTraffic };
  return (
    <Tile title="Throughput" opens="/interface" area="throughput">
      <div className="throughput">
        <Chart title="Bits" unit="bps" lines={BITS} read={bits} {...common} />
        <Chart title="Packets" unit="p/s" lines={PACKETS} read={packets} {...common} />
      </div>
    </Tile>
  );
}
