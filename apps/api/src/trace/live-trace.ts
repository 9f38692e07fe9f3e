import { setTimeout as sleep } from 'node:timers/promises';
import type { Trace, TraceFilter } from '../agent/messages.js';
import { errors } from '../errors.js';
import type { Services } from '../services.js';

/** Interval of polls of a trace, ms. */
const POLL_MS = 250;

/**
 * Packets of a user's live trace, as they are recorded, until there are as many as requested or `signal` is aborted.
 * The trace of the data plane ends with it.
 * @throws ApiError when there are too many traces already, or when another user with fewer traces takes the slot;
 * AgentGone when the data plane disconnects.
 */
export async function* tracePackets(
  { live: { agent }, traces }: Pick<Services, 'live' | 'traces'>,
  user: number,
  filter: TraceFilter,
  packets: number,
  signal: AbortSignal,
): AsyncGenerator<Trace, void> {
  const given = new AbortController();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const place = await traces.take(user, () => {
    given.abort();
    return ended;
  });
  if (place === undefined) throw errors.tooManyTraces();
  const either = AbortSignal.any([signal, given.signal]);
  try {
    const { trace } = await agent.request({ op: 'start-trace', filter, packets });
    try {
      let after = 0;
      while (!either.aborted) {
        const reply = await agent.request({ op: 'trace', trace, after });
        after = reply.packets.at(-1)?.number ?? after;
        yield reply;
        if (reply.done) return;
        await sleep(POLL_MS, undefined, { signal: either }).catch(() => undefined);
      }
    } finally {
      await agent.request({ op: 'stop-trace', trace }).catch(() => undefined);
    }
    if (given.signal.aborted) throw errors.failure('the trace has ended for one of another user, who had fewer');
  } finally {
    place.release();
    end();
  }
}
