/** Samples for the graphs, one a second, shared by all graphs on the page. */
import { live } from './live.ts';
import { isObject } from './rest.ts';
import type { SubscriptionHandle } from './socket.ts';

/** Rates of one interface: bits and packets per second. */
export interface InterfaceRates {
  readonly rx: number;
  readonly tx: number;
  readonly rxPps: number;
  readonly txPps: number;
}

export interface Sample {
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly interfaces: ReadonlyMap<string, InterfaceRates>;
  /** Load of each core, percent. */
  readonly cpu: ReadonlyMap<number, number>;
}

/** How far back the graphs look, ms. */
export const SPAN_MS = 300_000;

function num(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Decodes a sample; undefined when it has no time. */
export function toSample(message: unknown): Sample | undefined {
  if (!isObject(message)) return undefined;
  const t = num(message.t);
  if (t === undefined) return undefined;
  const interfaces = new Map<string, InterfaceRates>();
  if (isObject(message.interfaces)) {
    for (const [name, rates] of Object.entries(message.interfaces)) {
      if (!isObject(rates)) continue;
      interfaces.set(name, {
        rx: num(rates.rx) ?? 0,
        tx: num(rates.tx) ?? 0,
        rxPps: num(rates.rxPps) ?? 0,
        txPps: num(rates.txPps) ?? 0,
      });
    }
  }
  const cpu = new Map<number, number>();
  if (Array.isArray(message.cpu)) {
    for (const core of message.cpu) {
      if (!isObject(core)) continue;
      const id = num(core.cpu);
      const load = num(core.load);
      if (id !== undefined && load !== undefined) cpu.set(id, load);
    }
  }
  return { t, interfaces, cpu };
}

/** Appends samples, in order of time and without repetitions, and forgets what is older than the span. */
export function extend(samples: readonly Sample[], fresh: readonly Sample[]): readonly Sample[] {
  const last = samples.at(-1)?.t ?? Number.NEGATIVE_INFINITY;
  const next = [...samples, ...fresh.filter((sample) => sample.t > last)];
  const newest = next.at(-1)?.t ?? 0;
  const from = next.findIndex((sample) => sample.t >= newest - SPAN_MS);
  return from > 0 ? next.slice(from) : next;
}

let samples: readonly Sample[] = [];
let handle: SubscriptionHandle | undefined;
const listeners = new Set<() => void>();

/** The samples held, oldest first. */
export function trafficSamples(): readonly Sample[] {
  return samples;
}

/** Calls `listener` on each new sample; the subscription runs while somebody listens. */
export function onTraffic(listener: () => void): () => void {
  listeners.add(listener);
  handle ??= live.subscribe({ topic: 'traffic' }, (message) => {
    const raw = message.op === 'history' && Array.isArray(message.samples) ? message.samples : [message];
    samples = extend(
      samples,
      raw.map(toSample).filter((sample) => sample !== undefined),
    );
    for (const each of listeners) each();
  });
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    handle?.close();
    handle = undefined;
  };
}
