// @ts-check
/** Effect of commits on packets that are forwarded meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runAsync } from './background.mjs';
import { ROUTER_MAC } from './lab.mjs';
import { inTurns, measured, median } from './samples.mjs';

/** Offered load, packets/s. */
const RATE = 100_000;
/** Interval of commits, ms. */
const EVERY = 100;
/** Drop reasons of packets that the hosts' kernels send by themselves. */
const HOSTS_OWN = ['ipv6-not-enabled', 'arp-consumed', 'arp-ignored'];
/**
 * Drop reasons of an overloaded router. Any other reason is an error of the configuration, which accepts every packet
 * of the load.
 */
const OVERLOAD = [
  'no-frame',
  'queue-full',
  'queue-memory',
  'receive-queue-full',
  'transmit-queue-full',
  'handover-queue-full',
];

/** @typedef {Extract<import('@tollway/dataplane-agent').ReplyBody, { op: 'stats' }>} Stats */

/**
 * The load of the packet cases through our router alone, with commits and without, in turns.
 * @param {import('./cases.mjs').WireCase} entry
 * @param {import('./lab.mjs').Context} context
 * @returns {Promise<Omit<import('./report.mjs').Result, 'io'>>}
 * @throws when a packet was dropped for the configuration
 */
export async function commits({ name, scenario, io }, { lab, quick, note }) {
  const seconds = quick ? 2 : 5;
  const count = RATE * seconds;
  lab.dropAtSink('ours');
  const offer = (/** @type {number} */ rate, /** @type {number} */ packets) => {
    const generator = [lab.bench, 'send', '--interface', 'eth0', '--destination-mac', ROUTER_MAC];
    const load = ['--rate', String(rate), '--count', String(packets)];
    return runAsync(lab.command('ours-gen', [...generator, ...load]));
  };
  await offer(20_000, 20_000);

  /** @type {{ median_ms: number, longest_ms: number }[]} */
  const taken = [];
  const samples = await inTurns(quick ? 2 : 4, ['without', 'with'], note, async (wire) => {
    const before = { arrived: lab.received('ours'), stats: lab.agentStats() };
    const sample = await measured(async () => {
      const load = offer(RATE, count);
      if (wire === 'with') {
        const turns = Math.floor((seconds * 1000) / EVERY);
        taken.push(await lab.commit(scenario, { io, count: turns, every: EVERY }));
      }
      await load;
      await sleep(100);
    });
    const dropped = droppedSince(before.stats, lab.agentStats());
    return { ...sample, lost: Math.max(0, count - (lab.received('ours') - before.arrived)), dropped };
  });

  const of = (/** @type {'with' | 'without'} */ wire) => {
    const all = samples.get(wire) ?? [];
    const lost = median(all.map((sample) => sample.lost));
    return { lost, most: Math.max(...all.map((sample) => sample.lost)), dropped: total(all.map((s) => s.dropped)) };
  };
  const [ours, baseline] = [of('with'), of('without')];
  const wrong = forConfiguration(ours.dropped);
  if (wrong.size > 0) throw new Error(`commits cost packets: ${list(wrong)}`);
  const text = (/** @type {typeof ours} */ side) =>
    `${side.lost} of ${count} packets lost (at most ${side.most}); in all runs dropped: ${list(side.dropped)}`;
  const longest = Math.max(...taken.map((commit) => commit.longest_ms));
  const middle = median(taken.map((commit) => commit.median_ms));
  return {
    name,
    unit: 'share of packets that arrived',
    ours: 1 - ours.lost / count,
    baseline: 1 - baseline.lost / count,
    ratio: (count - ours.lost) / (count - baseline.lost),
    details: [
      `${RATE / 1000} kpps, a commit every ${EVERY} ms: ${text(ours)}`,
      `without commits: ${text(baseline)}`,
      `a commit meanwhile took ${middle.toFixed(1)} ms, at most ${longest.toFixed(1)} ms`,
    ],
  };
}

/** The drops that neither overload nor the hosts' own packets explain. @param {Map<string, number>} dropped */
export function forConfiguration(dropped) {
  const explained = [...OVERLOAD, ...HOSTS_OWN];
  return new Map([...dropped].filter(([reason, packets]) => packets > 0 && !explained.includes(reason)));
}

/** Packets dropped between two readings, by reason. @param {Stats} before @param {Stats} after */
export function droppedSince(before, after) {
  const earlier = new Map(before.drops.map((drop) => [drop.reason, drop.packets]));
  return new Map(after.drops.map((drop) => [drop.reason, drop.packets - (earlier.get(drop.reason) ?? 0)]));
}

/** @param {readonly Map<string, number>[]} all @returns {Map<string, number>} what is not zero */
function total(all) {
  const sums = new Map();
  for (const [reason, packets] of all.flatMap((one) => [...one])) {
    if (packets > 0) sums.set(reason, (sums.get(reason) ?? 0) + packets);
  }
  return sums;
}

/** @param {Map<string, number>} dropped */
const list = (dropped) => [...dropped].map(([reason, packets]) => `${packets} ${reason}`).join(', ') || 'nothing';
