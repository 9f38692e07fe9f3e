import type { Failure, Unnumbered } from '@tollway/protocol/live/server-messages';
import type { TraceMessage } from '@tollway/protocol/live/trace';
import { menuByPath } from '@tollway/schema';
import type { Trace } from '../agent/messages.js';
import type { Arguments } from '../config/content.js';
import type { UserQueues } from '../scheduling/user-queues.js';
import type { Services } from '../services.js';
import { tracePackets } from '../trace/live-trace.js';
import { packetArguments, packetDescription, traceFilter } from '../trace/packet-description.js';
import { namesNow, packetTrace } from '../trace/packet-traces.js';
import { failureOf } from './failure.js';

const PATH = '/tool/packet-trace';

type TraceServices = Pick<Services, 'store' | 'views' | 'live' | 'traces'>;
type SendPackets = (trace: Trace) => Promise<void>;

/** Sends a message about a trace. */
export type SendTrace = (message: Unnumbered<TraceMessage | Failure>) => void;

/**
 * A packet trace of one browser. Sends `trace` messages with packets as they are recorded, of which the first one is
 * empty; or, for a dry run, the path that the described packet would take. The data plane records packets only until
 * the feed is closed.
 */
export class TraceFeed {
  readonly #end = new AbortController();

  /**
   * @param dryRuns queues of the dry runs of all browsers: the data plane runs one dry run of each user at a time.
   * @param user id of the user who runs the trace.
   * @param args arguments of `/tool/packet-trace`.
   */
  constructor(
    services: TraceServices,
    dryRuns: UserQueues,
    user: number,
    dry: boolean,
    args: Arguments,
    send: SendTrace,
  ) {
    const sendPackets: SendPackets = async ({ packets, done, lost }) => {
      const names = await namesNow(services);
      if (this.#end.signal.aborted) return;
      send({ op: 'trace', packets: packets.map((packet) => packetTrace(names, packet)), done, lost });
    };
    const run = dry
      ? dryRuns.run(user, () => this.#dryRun(services, args, sendPackets))
      : this.#follow(services, user, args, sendPackets);
    run.catch((error: unknown) => {
      if (!this.#end.signal.aborted) send({ op: 'error', ...failureOf(error) });
    });
  }

  close(): void {
    this.#end.abort();
  }

  async #follow(services: TraceServices, user: number, args: Arguments, sendPackets: SendPackets) {
    const given = packetArguments(menuByPath(PATH)?.run, args);
    const filter = traceFilter(given, services.store.snapshot);
    let first = true;
    for await (const reply of tracePackets(services, user, filter, Number(given.packets), this.#end.signal)) {
      if (first || reply.packets.length > 0 || reply.done) await sendPackets(reply);
      first = false;
    }
  }

  async #dryRun({ store, live }: TraceServices, args: Arguments, sendPackets: SendPackets) {
    // The client may have disconnected while it waited for its turn.
    if (this.#end.signal.aborted) return;
    const values = packetArguments(menuByPath(PATH)?.commands.get('dry-run'), args);
    const packet = await packetDescription(values, store.snapshot, live.agent);
    if (this.#end.signal.aborted) return;
    await sendPackets(await live.agent.request({ op: 'dry-run', packet }));
  }
}
