import { setTimeout as sleep } from 'node:timers/promises';
import type { Trace, TraceFilter } from '../agent/messages.js';
import type { AgentPort } from '../agent/port.js';

/** How often a trace is asked for what it has noted, ms. */
const POLL_MS = 250;

/**
 * What a live trace notes, as it comes, until it has its packets or `signal` is aborted. The data plane's trace ends
 * with it.
 * @throws AgentRefusal when there are too many traces already, AgentGone when the data plane goes away.
 */
export async function* traced(
  agent: AgentPort,
  filter: TraceFilter,
  packets: number,
  signal: AbortSignal,
): AsyncGenerator<Trace, void> {
  const { trace } = await agent.request({ op: 'start-trace', filter, packets });
  try {
    let after = 0;
    while (!signal.aborted) {
      const reply = await agent.request({ op: 'trace', trace, after });
      after = reply.packets.at(-1)?.number ?? after;
      yield reply;
      if (reply.done) return;
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await agent.request({ op: 'stop-trace', trace }).catch(() => undefined);
  }
}
