import { Readable } from 'node:stream';
import { QUEUE_DIRECTIONS, QUEUE_MENUS } from '@tollway/protocol/queue-menus';
import type { FastifyInstance } from 'fastify';
import { AgentGone, type Stats } from '../agent/messages.js';
import { PART, type QueueDump } from '../agent/queues.js';
import { clientGone } from '../plugins/auth.js';
import { startSlicer, type TimeSlicer } from '../scheduling/time-slicer.js';
import type { Services } from '../services.js';
import { VERSION } from '../version.js';

/** Media type of the text format (Prometheus, "Exposition formats"). */
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
/** Time for which scrapers share a reading, ms. */
const SHARED_MS = 1_000;

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | bigint];

/** A family of samples with its name, kind and help. */
interface Family {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: () => Iterable<Sample>;
}

/** `GET /metrics`: counters in the text format of Prometheus, with the permission `read`. */
export function metricsRoute(app: FastifyInstance, { live, store, lists }: Services): void {
  app.get('/metrics', async (request, reply) => {
    const { userId } = request.principal;
    const gone = clientGone(reply);
    await lists.acquire(userId, 1, gone);
    const [stats, queues] = await Promise.all([live.stats(SHARED_MS), live.queues(SHARED_MS)]);
    if (stats === undefined || queues === undefined) throw new AgentGone();
    const slicer = await startSlicer(gone, userId);
    const families = [...routerFamilies(stats, store.revision), ...queueFamilies(queues, store)];
    return reply.type(TEXT).send(Readable.from(lines(families, slicer)));
  });
}

/** Size of a chunk, characters. */
const CHUNK = 1 << 16;

/** Lines in chunks, between which other requests are served: 25,000 queues have a quarter of a million lines. */
async function* lines(families: readonly Family[], slicer: TimeSlicer): AsyncGenerator<string, void> {
  let text = '';
  for (const { name, kind, help, samples } of families) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
    for (const [labels, value] of samples()) {
      text += `${name}${labelText(labels)} ${value}\n`;
      if (text.length < CHUNK) continue;
      yield text;
      text = '';
      if (slicer.over) await slicer.pause();
    }
  }
  yield text;
}

function labelText(labels: Labels): string {
  const quoted = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  const each = Object.entries(labels).map(([name, value]) => `${name}="${quoted(value)}"`);
  return each.length === 0 ? '' : `{${each.join(',')}}`;
}

const counter = (name: string, help: string, samples: () => Iterable<Sample>): Family => ({
  name,
  kind: 'counter',
  help,
  samples,
});
const gauge = (name: string, help: string, samples: () => Iterable<Sample>): Family => ({
  name,
  kind: 'gauge',
  help,
  samples,
});

function routerFamilies(stats: Stats, revision: number): Family[] {
  const port = (read: (each: Stats['interfaces'][number]) => number) => () =>
    stats.interfaces.filter((each) => each.port !== '').map((each): Sample => [{ port: each.port }, read(each)]);
  const interfaces: [string, string, (each: Stats['interfaces'][number]) => number][] = [
    ['rx_bytes', 'Bytes received, L2 without FCS.', (each) => each['rx-bytes']],
    ['tx_bytes', 'Bytes sent, L2 without FCS.', (each) => each['tx-bytes']],
    ['rx_packets', 'Packets received.', (each) => each['rx-packets']],
    ['tx_packets', 'Packets sent.', (each) => each['tx-packets']],
    ['rx_drops', 'Received frames that were lost for want of buffers.', (each) => each['rx-drops']],
    ['tx_drops', 'Packets that the port could not take.', (each) => each['tx-drops']],
    ['rx_errors', 'Receive errors.', (each) => each['rx-errors']],
    ['tx_errors', 'Transmit errors.', (each) => each['tx-errors']],
  ];
  return [
    gauge('tollway_info', 'Version of the software.', () => [[{ version: VERSION }, 1]]),
    gauge('tollway_revision', 'Revision of the configuration.', () => [[{}, revision]]),
    gauge('tollway_uptime_seconds', 'Time since the data plane started.', () => [[{}, stats['uptime-ns'] / 1e9]]),
    ...interfaces.map(([name, help, read]) => counter(`tollway_interface_${name}_total`, help, port(read))),
    gauge(
      'tollway_interface_up',
      'Whether the port has carrier and is enabled.',
      port((each) => Number(each.running)),
    ),
    gauge('tollway_connections', 'Entries of the connection table.', () => [
      [{ family: 'ipv4' }, stats.tracking['ip4-entries']],
      [{ family: 'ipv6' }, stats.tracking['ip6-entries']],
    ]),
    gauge('tollway_connections_max', 'Bound of the connection table.', () => [[{}, stats.tracking['max-entries']]]),
    gauge('tollway_worker_connections', 'Connections of the worker that has most.', () => [
      [{}, stats.tracking['worker-entries']],
    ]),
    gauge('tollway_worker_connections_max', 'Bound of the connections of one worker.', () => [
      [{}, stats.tracking['worker-max-entries']],
    ]),
    counter('tollway_drops_total', 'Packets dropped, by reason.', () =>
      stats.drops.map((drop): Sample => [{ reason: drop.reason }, drop.packets]),
    ),
    counter('tollway_fast_path_packets_total', 'Packets that the flow cache forwarded.', () => [
      [{ fasttrack: 'no' }, stats['fast-path']['fast-path-packets']],
      [{ fasttrack: 'yes' }, stats['fast-path']['fasttrack-packets']],
    ]),
    counter('tollway_worker_cpu_seconds_total', 'Processor time of each worker.', () =>
      stats.workers.map((worker, index): Sample => [{ worker: String(index) }, worker['thread-cpu-ns'] / 1e9]),
    ),
  ];
}

/** Part of a queue that counts a direction. */
const PART_OF = { upload: PART.upload, download: PART.download, any: PART.whole } as const;

function queueFamilies(dump: QueueDump, store: Services['store']): Family[] {
  const parts = QUEUE_MENUS.flatMap((menu) =>
    QUEUE_DIRECTIONS[menu].map((direction) => ({ menu, direction, part: PART_OF[direction] })),
  );
  const samples = (property: string) =>
    function* (): Generator<Sample> {
      for (const { menu, direction, part } of parts) {
        for (const row of store.snapshot.get(menu) ?? []) {
          const value = dump.value(row.id, part, property) ?? 0n;
          yield [{ menu, queue: row.values.name ?? '', direction }, value];
        }
      }
    };
  return [
    counter('tollway_queue_bytes_total', 'IP bytes that passed a queue.', samples('bytes')),
    counter('tollway_queue_packets_total', 'Packets that passed a queue.', samples('packets')),
    counter('tollway_queue_dropped_total', 'Packets that a queue dropped.', samples('dropped')),
    counter(
      'tollway_queue_out_of_order_total',
      'TCP segments that came to a queue out of order.',
      samples('out-of-order'),
    ),
    gauge('tollway_queue_backlog_bytes', 'IP bytes that wait in a queue.', samples('queued-bytes')),
    gauge('tollway_queue_backlog_packets', 'Packets that wait in a queue.', samples('queued-packets')),
  ];
}
