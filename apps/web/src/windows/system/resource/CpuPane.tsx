/** Load of each core. Up to four cores share a graph; more get one each. */
import { useSyncExternalStore } from 'react';
import { onTraffic, SPAN_MS, samplesAfter, trafficSamples } from '../../../api/traffic.ts';
import { useAppearanceKey } from '../../../ui/appearance-key.ts';
import { Chart, type Line } from '../../../ui/Chart.tsx';
import { useVisible } from '../../../ui/visibility.ts';

/** Maximum number of lines in a graph: more colours could not be distinguished. */
const MAX_LINES = 4;
const STYLES: readonly Omit<Line, 'label'>[] = [
  { color: '--tx' },
  { color: '--rx' },
  { color: '--text', dashed: true },
  { color: '--chart-4', dashed: true },
];

/** A subscription to nothing, used while invisible. */
const nothing = () => () => {};

function cores(): string {
  return [...(trafficSamples().at(-1)?.cpu.keys() ?? [])].sort((a, b) => a - b).join(',');
}

function read(which: readonly number[], afterMs: number) {
  const samples = samplesAfter(afterMs);
  return {
    times: samples.map((sample) => sample.t),
    values: which.map((core) => samples.map((sample) => sample.cpu.get(core) ?? null)),
  };
}

function CpuGraph() {
  const list = useSyncExternalStore(useVisible() ? onTraffic : nothing, cores);
  const appearance = useAppearanceKey();
  const all = list === '' ? [] : list.split(',').map(Number);
  if (all.length === 0) return <p className="form-note">Waiting for the first sample of the cores.</p>;
  const charts = all.length <= MAX_LINES ? [all] : all.map((core) => [core]);
  return (
    <div className={charts.length === 1 ? 'graph-one' : 'graph-many'}>
      {charts.map((which) => (
        <Chart
          key={which.join(',')}
          title={which.length === 1 ? `CPU ${which[0]} load` : 'CPU load'}
          unit="%"
          lines={which.map((core, index) => ({ color: '--tx', ...STYLES[index], label: `CPU ${core}` }))}
          spanMs={SPAN_MS}
          max={100}
          appearance={appearance}
          read={(afterMs) => read(which, afterMs)}
          subscribe={onTraffic}
        />
      ))}
    </div>
  );
}

/** The load of each core over the last minutes, shown below the content of a window. */
export const CpuPane = () => (
  <div role="group" className="split-below" tabIndex={0} aria-label="CPU load">
    <CpuGraph />
  </div>
);
