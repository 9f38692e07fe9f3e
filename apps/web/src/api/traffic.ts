/** Samples for graphs and the dashboard, one a second, shared by everything on the page that shows them. */
import { live } from './live.ts';
import { isObject } from './rest.ts';
import { Topic } from './topic.ts';

/** Rates of one interface: bits and packets per second, and the part of them that took the fast path. */
export interface InterfaceRates {
  readonly rx: number;
  readonly tx: number;
  readonly rxPps: number;
  readonly txPps: number;
  readonly fpRx: number;
  readonly fpTx: number;
  readonly fpRxPps: number;
  readonly fpTxPps: number;
}

export interface Sample {
  /** Milliseconds since 1970. */
  readonly t: number;
  /** By `.id`. */
  readonly interfaces: ReadonlyMap<string, InterfaceRates>;
  /** Load of each core, percent. */
  readonly cpu: ReadonlyMap<number, number>;
  /** What all ports together send: bits and packets per second. */
  readonly throughput: { readonly bps: number; readonly pps: number };
  /** Connections tracked. */
  readonly connections: number;
  /** Share of the packets that took FastTrack, 0 to 1. */
  readonly fasttrackShare: number;
  /** What waits in all queues. */
  readonly queued: { readonly bytes: number; readonly packets: number };
  /** Dropped packets per second by reason; reasons that stand still are absent. */
  readonly drops: ReadonlyMap<string, number>;
}

/** How far back the graphs look, ms. */
export const SPAN_MS = 300_000;

function num(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function interfaceRates(raw: unknown): ReadonlyMap<string, InterfaceRates> {
  return new Map(
    Object.entries(fields(raw)).flatMap(([name, value]) => {
      if (!isObject(value)) return [];
      const { rx, tx, rxPps, txPps, fpRx, fpTx, fpRxPps, fpTxPps } = value;
      const rates: InterfaceRates = {
        rx: num(rx),
        tx: num(tx),
        rxPps: num(rxPps),
        txPps: num(txPps),
        fpRx: num(fpRx),
        fpTx: num(fpTx),
        fpRxPps: num(fpRxPps),
        fpTxPps: num(fpTxPps),
      };
      return [[name, rates] as const];
    }),
  );
}

function coreLoads(raw: unknown): ReadonlyMap<number, number> {
  const loads = new Map<number, number>();
  for (const core of Array.isArray(raw) ? raw : []) {
    const { cpu, load } = fields(core);
    if (typeof cpu === 'number' && typeof load === 'number' && Number.isFinite(load)) loads.set(cpu, load);
  }
  return loads;
}

/** Decodes a sample; undefined when it has no time. */
export function toSample(message: unknown): Sample | undefined {
  if (!isObject(message) || typeof message.t !== 'number') return undefined;
  const { bps, pps } = fields(message.throughput);
  const { bytes, packets } = fields(message.queued);
  return {
    t: message.t,
    interfaces: interfaceRates(message.interfaces),
    cpu: coreLoads(message.cpu),
    throughput: { bps: num(bps), pps: num(pps) },
    connections: num(message.connections),
    fasttrackShare: num(message.fasttrackShare),
    queued: { bytes: num(bytes), packets: num(packets) },
    drops: new Map(Object.entries(fields(message.drops)).map(([reason, rate]) => [reason, num(rate)])),
  };
}

/**
 * Appends samples, in order of time and without repetitions, and forgets what is older than the span. Where the newest is
 * before those held, the router's clock was set back: they go from there on. A newest that is held, too, is the end of what a
 * router that was killed had written down: it knows less than this page, and its clock is right.
 */
export function extend(samples: Sample[], fresh: readonly Sample[]): void {
  const [first, last] = [fresh[0], fresh.at(-1)];
  const isBehind = last !== undefined && last.t < (samples.at(-1)?.t ?? last.t);
  if (first !== undefined && isBehind && !samples.some(({ t }) => t === last.t)) {
    samples.splice(samples.findIndex((sample) => sample.t >= first.t));
  }
  for (const sample of fresh) if (sample.t > (samples.at(-1)?.t ?? Number.NEGATIVE_INFINITY)) samples.push(sample);
  const oldest = (samples.at(-1)?.t ?? 0) - SPAN_MS;
  const keep = samples.findIndex((sample) => sample.t >= oldest);
  if (keep > 0) samples.splice(0, keep);
}

const samples: Sample[] = [];

const topic = new Topic(live, { topic: 'traffic' }, (message) => {
  const raw = message.op === 'history' && Array.isArray(message.samples) ? message.samples : [message];
  extend(
    samples,
    raw.map(toSample).filter((sample) => sample !== undefined),
  );
});

/** The samples held, oldest first. The array stays the same object; read it anew after each change. */
export function trafficSamples(): readonly Sample[] {
  return samples;
}

/** The samples newer than a time, ms since 1970, oldest first; all when none is as new: the clock was set back. */
export function samplesAfter(afterMs: number): readonly Sample[] {
  if ((samples.at(-1)?.t ?? afterMs) < afterMs) return samples;
  const from = samples.findLastIndex((sample) => sample.t <= afterMs) + 1;
  return from === 0 ? samples : samples.slice(from);
}

/** Calls `listener` on each new sample; the subscription runs while somebody listens. */
export const onTraffic = (listener: () => void): (() => void) => topic.listen(listener);
