import { durationMs } from '@tollway/schema';
import type { TracedPacket } from '../../agent/messages.js';
import type { Arguments } from '../../config/content.js';
import { errors } from '../../errors.js';
import { projected, proplistOf } from '../../rest/listing.js';
import type { Answer, Call } from '../../services.js';
import { tracePackets } from '../../trace/live-trace.js';
import { argumentsOf, packetDescription, traceFilter } from '../../trace/packet-description.js';
import { namesNow, restPacket } from '../../trace/shown-packets.js';
import type { MenuModule } from '../module.js';

/** Arguments that describe the packet of a dry run, and by which no packets can be chosen. */
const OF_DRY_RUN = ['icmp-options', 'packet-size', 'tcp-flags', 'ttl'];
/** Arguments that say which packets are waited for, and how long. */
const OF_TRACE = ['dropped', 'duration', 'packets'];

/** @throws ApiError for the first argument that only the other command does something with. */
function refuseOthers(args: Arguments, others: readonly string[]): void {
  const other = Object.keys(args).find((name) => others.includes(name) && args[name] !== '');
  if (other !== undefined) throw errors.unknownParameter(other);
}

/** `/tool/packet-trace`: packets that the filter describes, as they come, until there are enough or time is over. */
async function packetTrace({ services, menu, args, principal, signal }: Call): Promise<Answer> {
  const { store } = services;
  const names = proplistOf(args['.proplist']);
  refuseOthers(args, OF_DRY_RUN);
  const words = argumentsOf(menu, args);
  const filter = traceFilter(words, store.snapshot);
  const count = Number(words.packets);
  const packets: TracedPacket[] = [];
  // A timer of its own: one of AbortSignal.timeout() that only AbortSignal.any() knows is taken by the garbage collector.
  const end = new AbortController();
  const stop = () => end.abort();
  const timer = setTimeout(stop, durationMs(words.duration ?? '') ?? 10_000);
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const reply of tracePackets(services, principal.userId, filter, count, end.signal)) {
      packets.push(...reply.packets);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  // What has waited is told of when it goes on, after those that came later.
  const inOrder = packets.slice(0, count).sort((a, b) => a['time-ms'] - b['time-ms']);
  return answer(services, names, inOrder);
}

/** `/tool/packet-trace/dry-run`: what would become of the described packet now. */
async function dryRun({ services, menu, args }: Call): Promise<Answer> {
  const { store, live } = services;
  const names = proplistOf(args['.proplist']);
  refuseOthers(args, OF_TRACE);
  const packet = await packetDescription(argumentsOf(menu, args), store.snapshot, live.agent);
  const { packets } = await live.agent.request({ op: 'dry-run', packet });
  return answer(services, names, packets);
}

async function answer(
  services: Call['services'],
  properties: readonly string[] | undefined,
  packets: readonly TracedPacket[],
): Promise<Answer> {
  const names = await namesNow(services);
  return projected(
    packets.map((packet) => restPacket(names, packet)),
    properties,
  );
}

export const toolPacketTrace: MenuModule = {
  path: '/tool/packet-trace',
  run: packetTrace,
  commands: { 'dry-run': dryRun },
};
