import { durationMs } from '@tollway/schema';
import type { TracedPacket } from '../../agent/messages.js';
import type { Answer, Call, Handler } from '../../services.js';
import { tracePackets } from '../../trace/live-trace.js';
import { packetArguments, packetDescription, traceFilter } from '../../trace/packet-description.js';
import { namesNow, restPacket } from '../../trace/packet-traces.js';
import type { MenuModule } from '../module.js';

/** `/tool/packet-trace`: packets that match the filter, until there are enough of them or the time is over. */
const packetTrace: Handler = async ({ services, menu, args, principal, signal }) => {
  const values = packetArguments(menu.run, args);
  const filter = traceFilter(values, services.store.snapshot);
  const count = Number(values.packets);
  const packets: TracedPacket[] = [];
  // AbortSignal.timeout() is not used: if only AbortSignal.any() refers to its signal, it is garbage-collected before
  // it fires.
  const end = new AbortController();
  const stop = () => end.abort();
  const timer = setTimeout(stop, durationMs(values.duration ?? '') ?? 10_000);
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
  // A queued packet is reported when it is sent, after later packets that were not queued.
  const inOrder = packets.slice(0, count).sort((a, b) => a['time-ms'] - b['time-ms']);
  return answer(services, inOrder);
};

/** `/tool/packet-trace/dry-run`: what the router would do with the described packet now. */
const dryRun: Handler = async ({ services, menu, args }) => {
  const { store, live } = services;
  const values = packetArguments(menu.commands.get('dry-run'), args);
  const packet = await packetDescription(values, store.snapshot, live.agent);
  const { packets } = await live.agent.request({ op: 'dry-run', packet });
  return answer(services, packets);
};

async function answer(services: Call['services'], packets: readonly TracedPacket[]): Promise<Answer> {
  const names = await namesNow(services);
  return packets.map((packet) => restPacket(names, packet));
}

export const toolPacketTrace: MenuModule = {
  path: '/tool/packet-trace',
  run: packetTrace,
  commands: { 'dry-run': dryRun },
};
