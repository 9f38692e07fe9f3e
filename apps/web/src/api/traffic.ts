/** Samples for graphs and the dashboard, one a second, shared by everything on the page that shows them. */
import type { InterfaceSample, TrafficSample } from '@tollway/protocol/live/traffic';
import { live } from './live.ts';
import { Topic } from './topic.ts';

/** A sample, with maps in place of its objects and of its list of cores. */
export interface Sample extends Omit<TrafficSample, 'interfaces' | 'cpu' | 'drops'> {
  /** Samples of interfaces by `.id`. */
  readonly interfaces: ReadonlyMap<string, InterfaceSample>;
  /** Load of each core, percent. */
  readonly cpu: ReadonlyMap<number, number>;
  /** Dropped packets per second by reason; reasons without drops are absent. */
  readonly drops: ReadonlyMap<string, number>;
}

/** Time span of the graphs, ms. */
export const SPAN_MS = 300_000;

/** A sample in the form in which it is stored. */
export const toSample = ({ interfaces, cpu, drops, ...sample }: TrafficSample): Sample => ({
  ...sample,
  interfaces: new Map(Object.entries(interfaces)),
  cpu: new Map(cpu.map(({ cpu, load }) => [cpu, load])),
  drops: new Map(Object.entries(drops)),
});

/**
 * Appends samples in order of time and without duplicates, and removes those older than the span. If the newest new
 * sample is older than stored ones, the router's clock was set back: the new samples replace the stored ones from the
 * time of the first new one on. If the newest new sample is itself stored, the samples are those that a killed router
 * had written to its file: they are fewer than the stored ones, and the clock is right.
 */
export function extend(samples: Sample[], fresh: readonly Sample[]): void {
  const [first, last] = [fresh[0], fresh.at(-1)];
  const isOutdated = last !== undefined && last.t < (samples.at(-1)?.t ?? last.t);
  if (first !== undefined && isOutdated && !samples.some(({ t }) => t === last.t)) {
    samples.splice(samples.findIndex((sample) => sample.t >= first.t));
  }
  for (const sample of fresh) if (sample.t > (samples.at(-1)?.t ?? Number.NEGATIVE_INFINITY)) samples.push(sample);
  const oldest = (samples.at(-1)?.t ?? 0) - SPAN_MS;
  const keep = samples.findIndex((sample) => sample.t >= oldest);
  if (keep > 0) samples.splice(0, keep);
}

const samples: Sample[] = [];

const topic = new Topic(live, { topic: 'traffic' }, (message) => {
  if (message.op === 'history') extend(samples, message.samples.map(toSample));
  else if (message.op === 'sample') extend(samples, [toSample(message)]);
});

/** The stored samples, oldest first. The array remains the same object; read it again after each change. */
export function trafficSamples(): readonly Sample[] {
  return samples;
}

/**
 * The samples newer than a time (ms since 1970), oldest first; all samples if none is that new, as the clock was set
 * back.
 */
export function samplesAfter(afterMs: number): readonly Sample[] {
  if ((samples.at(-1)?.t ?? afterMs) < afterMs) return samples;
  const from = samples.findLastIndex((sample) => sample.t <= afterMs) + 1;
  return from === 0 ? samples : samples.slice(from);
}

/** Calls `listener` on each new sample; the subscription is active while there are listeners. */
export const onTraffic = (listener: () => void): (() => void) => topic.listen(listener);
