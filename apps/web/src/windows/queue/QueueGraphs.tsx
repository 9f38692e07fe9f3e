/** Graphs of one queue since its dialog was opened: rate and limit, drops, waiting time and queued bytes. */
import { live } from '../../api/live.ts';
import type { Row } from '../../api/row.ts';
import { SPAN_MS } from '../../api/traffic.ts';
import { useAppearanceKey } from '../../ui/appearance-key.ts';
import { Chart, type Line } from '../../ui/Chart.tsx';
import { type Direction, directionsOf } from './pair.ts';
import { QueueRecorder } from './queue-recorder.ts';

/** A line for each direction, download below the axis. */
function linesOf(directions: readonly Direction[]): readonly Line[] {
  return directions.map(({ label, color }, which) => ({
    label,
    color,
    filled: true,
    ...(which > 0 && { below: true }),
  }));
}

/** The lines of {@link linesOf}, and the limits. */
function rateLines(directions: readonly Direction[]): readonly Line[] {
  const limits = directions.map(({ label, color }, which): Line => {
    const name = directions.length > 1 ? `${label} limit` : 'Limit';
    return { label: name, color, dashed: true, reference: true, ...(which > 0 && { below: true }) };
  });
  return [...linesOf(directions), ...limits];
}

/** Recorders of the most recently shown queues, so that a change of tabs loses no samples. */
const recorders = new Map<string, QueueRecorder>();
const MAX_RECORDERS = 16;
/** Time without messages after which shown values are out of date, ms. */
const FRESH_MS = 3_000;

function recorderOf(id: string): QueueRecorder {
  const recorder =
    recorders.get(id) ??
    new QueueRecorder(() => live.state === 'open' && performance.now() - live.lastMessageAt < FRESH_MS);
  // Moves it to the end, as the newest.
  recorders.delete(id);
  recorders.set(id, recorder);
  const oldest = recorders.keys().next().value;
  if (recorders.size > MAX_RECORDERS && oldest !== undefined) recorders.delete(oldest);
  return recorder;
}

export function QueueGraphs({ row }: { readonly row: Row }) {
  const appearance = useAppearanceKey();
  const id = row['.id'];
  if (id === undefined) return null;
  const recorder = recorderOf(id);
  recorder.row = row;
  const directions = directionsOf(row);
  const count = directions.length;
  const lines = linesOf(directions);
  const common = { spanMs: SPAN_MS, appearance, subscribe: recorder.listen };
  return (
    <div key={id} className="graph-pair graph-small">
      <Chart
        title="Rate"
        unit="bps"
        lines={rateLines(directions)}
        read={(afterMs) => recorder.rates(afterMs, count)}
        {...common}
      />
      <Chart title="Queued" unit="B" lines={lines} read={(afterMs) => recorder.queued(afterMs, count)} {...common} />
      <Chart title="Dropped" unit="p/s" lines={lines} read={(afterMs) => recorder.drops(afterMs, count)} {...common} />
      <Chart
        title="Longest wait"
        unit="s"
        lines={lines}
        read={(afterMs) => recorder.waits(afterMs, count)}
        {...common}
      />
    </div>
  );
}
