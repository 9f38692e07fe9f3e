/** Rate against the limit, and what waits, of one queue since its dialog was opened. */
import { live } from '../../api/live.ts';
import type { Row } from '../../api/row.ts';
import { SPAN_MS } from '../../api/traffic.ts';
import { useAppearanceKey } from '../../ui/appearance-key.ts';
import { Chart, type Line } from '../../ui/Chart.tsx';
import { QueueRecorder } from './queue-recorder.ts';

const RATE: readonly Line[] = [
  { label: 'Upload', color: '--tx', filled: true },
  { label: 'Download', color: '--rx', filled: true, below: true },
  { label: 'Upload limit', color: '--tx', dashed: true, reference: true },
  { label: 'Download limit', color: '--rx', dashed: true, reference: true, below: true },
];
const QUEUED: readonly Line[] = [
  { label: 'Upload', color: '--tx', filled: true },
  { label: 'Download', color: '--rx', filled: true, below: true },
];

/** Recorders of the queues looked at last, so that a change of tabs loses nothing. */
const recorders = new Map<string, QueueRecorder>();
const MOST_RECORDERS = 16;
/** Without messages for longer, what is shown is out of date, ms. */
const FRESH_MS = 3_000;

function recorderOf(id: string): QueueRecorder {
  const recorder =
    recorders.get(id) ??
    new QueueRecorder(() => live.state === 'open' && performance.now() - live.lastMessageAt < FRESH_MS);
  // The newest stands last.
  recorders.delete(id);
  recorders.set(id, recorder);
  const oldest = recorders.keys().next().value;
  if (recorders.size > MOST_RECORDERS && oldest !== undefined) recorders.delete(oldest);
  return recorder;
}

export function QueueGraphs({ row }: { readonly row: Row }) {
  const appearance = useAppearanceKey();
  const id = row['.id'];
  if (id === undefined) return null;
  const recorder = recorderOf(id);
  recorder.row = row;
  const common = { spanMs: SPAN_MS, appearance, subscribe: recorder.listen };
  return (
    <div key={id} className="graph-pair">
      <Chart title="Rate" unit="bit/s" lines={RATE} read={(afterMs) => recorder.rates(afterMs)} {...common} />
      <Chart title="Queued" unit="B" lines={QUEUED} read={(afterMs) => recorder.queued(afterMs)} {...common} />
    </div>
  );
}
