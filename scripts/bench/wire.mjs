// @ts-check
/** The wire cases: two routers with the same configuration, measured in turns. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runAsync } from './background.mjs';
import { commits } from './commits.mjs';
import { hasIpv6, inIpv6, ROUTER_MAC, SINK_ADDRESS } from './lab.mjs';
import { inTurns, measured, median, percent, spread } from './samples.mjs';

/** @type {readonly import('./lab.mjs').Wire[]} */
const WIRES = ['direct', 'kernel', 'ours'];
/** Flows of the packet generator. */
const FLOWS = 4096;
/** Offered loads, packets/s. The result of the case is measured at the highest one that both routers carry. */
const RATES = [50_000, 100_000, 200_000];
/**
 * Offered loads at which every packet opens a connection, packets/s: few enough that the kernel's table of 262,144
 * entries does not overflow.
 */
const CONNECTION_RATES = [20_000, 40_000];
/** Maximum share of lost packets at a load that counts as carried. */
const LOSS = 0.005;

/** @typedef {import('./lab.mjs').Context} Context @typedef {import('./report.mjs').Result} Result */

/**
 * @param {import('./cases.mjs').WireCase} entry
 * @param {Context} context
 * @returns {Promise<Result>}
 */
export async function runWireCase(entry, context) {
  const alone = entry.load === 'commits';
  const io = await (alone ? context.lab.buildOurs(entry) : context.lab.build(entry.scenario, entry.io));
  const result = { ...(await measure(entry, context)), io };
  const stats = context.lab.agentStats();
  if (process.env.TOLLWAY_BENCH_RAW) context.note(JSON.stringify(stats));
  result.details.push(...agentRemarks(stats));
  if (/-queue|htb/.test(entry.scenario)) result.details.push(queueRemark(context.lab.queued()));
  return result;
}

/**
 * @param {import('./cases.mjs').WireCase} entry
 * @param {Context} context
 * @returns {Promise<Omit<Result, 'io'>>}
 */
function measure(entry, context) {
  if (entry.load === 'tcp') return tcp(entry, context);
  if (entry.load === 'commits') return commits(entry, context);
  return entry.load === 'ping' ? ping(entry, context) : packets(entry, context);
}

/**
 * The generator at several offered loads.
 * @param {import('./cases.mjs').WireCase} entry
 * @param {Context} context
 * @returns {Promise<Omit<Result, 'io'>>}
 */
async function packets({ name, load: kind, scenario }, { lab, quick, note }) {
  for (const wire of WIRES) lab.dropAtSink(wire);
  const opening = kind === 'connections';
  const seconds = quick ? 0.7 : opening ? 1 : 1.5;
  let connections = 0;
  const offer = async (/** @type {string} */ wire, /** @type {number} */ rate, /** @type {number} */ count) => {
    const generator = [lab.bench, 'send', '--interface', 'eth0', '--destination-mac', ROUTER_MAC];
    const flows = opening ? ['--connections-from', String(connections)] : ['--flows', String(FLOWS)];
    connections += count;
    const load = [...flows, '--rate', String(rate), '--count', String(count), '--ipv6', String(hasIpv6(scenario))];
    await runAsync(lab.command(`${wire}-gen`, [...generator, ...load]));
    await sleep(50);
  };
  // Tables allocate memory only for entries that have been used.
  const warmUp = opening ? 20_000 : FLOWS;
  for (const wire of WIRES) for (let turn = 0; turn < 2; turn += 1) await offer(wire, 20_000, warmUp);

  const loads = [];
  const rates = opening ? CONNECTION_RATES : RATES;
  for (const rate of quick ? rates.slice(1, 2) : rates) {
    const count = Math.round(rate * seconds);
    const samples = await inTurns(quick ? 2 : opening ? 3 : 4, WIRES, note, async (wire) => {
      const before = lab.received(wire);
      const sample = await measured(() => offer(wire, rate, count));
      return { ...sample, arrived: lab.received(wire) - before };
    });
    const generator = median((samples.get('direct') ?? []).map((sample) => sample.busy));
    const router = (/** @type {'kernel' | 'ours'} */ wire) => {
      const taken = samples.get(wire) ?? [];
      const perCore = taken.map((sample) => sample.arrived / (sample.busy - generator));
      const arrived = median(taken.map((sample) => sample.arrived));
      return { value: median(perCore), spread: spread(perCore), lost: Math.max(0, 1 - arrived / count) };
    };
    loads.push({ rate, generator: generator / count, ours: router('ours'), kernel: router('kernel') });
  }
  const carried = loads.filter((load) => Math.max(load.ours.lost, load.kernel.lost) <= LOSS);
  const chosen = carried.at(-1) ?? loads[0];
  if (chosen === undefined) throw new Error('no load was offered');
  const cost = (/** @type {{ value: number, spread: number, lost: number }} */ side) =>
    `${(1e6 / side.value).toFixed(2)} µs a ${opening ? 'connection' : 'packet'} (±${percent(side.spread)}, ${percent(side.lost)} lost)`;
  return {
    name,
    unit: opening ? 'connections per core-second' : 'packets per core-second',
    ours: chosen.ours.value,
    baseline: chosen.kernel.value,
    ratio: chosen.ours.value / chosen.kernel.value,
    details: loads.map((load) => {
      const ratio = (load.ours.value / load.kernel.value).toFixed(2);
      const generator = `${(1e6 * load.generator).toFixed(2)} µs`;
      const sides = `ours ${cost(load.ours)}, kernel ${cost(load.kernel)}, generator ${generator}`;
      return `${load.rate / 1000} kpps offered: ${sides}; ratio ${ratio}${load === chosen ? ' ←' : ''}`;
    }),
  };
}

/**
 * Pings to the sink, whose median must not exceed the kernel's by more than the allowance.
 * @param {import('./cases.mjs').WireCase} entry
 * @param {Context} context
 * @returns {Promise<Omit<Result, 'io'>>}
 */
async function ping({ name, pause = 1, allowance = 0 }, { lab, quick, note }) {
  const count = Math.round((quick ? 1 : 2) / Math.max(pause, 0.001));
  const once = async (/** @type {string} */ wire, /** @type {number} */ times) => {
    const argv = ['ping', '-n', '-i', String(pause), '-c', String(times), SINK_ADDRESS];
    const replies = await runAsync(lab.command(`${wire}-gen`, argv));
    return [...replies.matchAll(/time=([\d.]+) ms/g)].map(([, ms]) => Number(ms) * 1000);
  };
  for (const wire of WIRES) await once(wire, 5);
  const samples = await inTurns(quick ? 2 : 4, WIRES, note, (wire) => measured(() => once(wire, count)));
  const of = (/** @type {import('./lab.mjs').Wire} */ wire) => {
    const medians = (samples.get(wire) ?? []).map(({ result }) => median(result));
    return { value: median(medians), spread: spread(medians) };
  };
  const [direct, kernel, ours] = [of('direct'), of('kernel'), of('ours')];
  const text = (/** @type {typeof ours} */ side) => `${side.value.toFixed(0)} µs (±${percent(side.spread)})`;
  return {
    name,
    unit: 'µs',
    ours: ours.value,
    baseline: kernel.value + allowance,
    ratio: (kernel.value + allowance) / ours.value,
    details: [
      `median round trip of pings ${pause * 1000} ms apart: ours ${text(ours)}, kernel ${text(kernel)}, no router ${text(direct)}`,
      `ours takes ${(ours.value - kernel.value).toFixed(0)} µs longer than the kernel, ${allowance} µs are allowed ←`,
    ],
  };
}

/**
 * One iperf3 stream, or several.
 * @param {import('./cases.mjs').WireCase} entry
 * @param {Context} context
 * @returns {Promise<Omit<Result, 'io'>>}
 */
async function tcp({ name, scenario, offered, streams = 1 }, { lab, quick, note }) {
  const sink = hasIpv6(scenario) ? inIpv6(SINK_ADDRESS) : SINK_ADDRESS;
  for (const wire of WIRES) lab.start(`${wire}-sink`, ['iperf3', '--server']);
  await sleep(300);
  const transfer = async (/** @type {string} */ wire) => {
    const client = ['iperf3', '--client', sink, '--time', quick ? '1' : '2', '--json'];
    if (streams > 1) client.push('--parallel', String(streams));
    if (offered !== undefined) client.push('--bitrate', offered);
    const { end } = JSON.parse(await runAsync(lab.command(`${wire}-gen`, client)));
    return { bits: end.sum_received.bytes * 8, seconds: end.sum_received.seconds };
  };
  for (const wire of WIRES) await transfer(wire);

  // At an offered rate below the maximum the machine is mostly idle, so that other programs disturb a sample more.
  const rounds = offered === undefined ? 4 : 8;
  const samples = await inTurns(quick ? 2 : rounds, WIRES, note, (wire) => measured(() => transfer(wire)));
  const of = (/** @type {import('./lab.mjs').Wire} */ wire) => {
    const taken = samples.get(wire) ?? [];
    const whole = taken.map(({ result, busy }) => result.bits / busy);
    return { taken, whole: median(whole), spread: spread(whole), goodput: median(taken.map(bitsPerSecond)) };
  };
  const [direct, kernel, ours] = [of('direct'), of('kernel'), of('ours')];
  const alone = (/** @type {typeof ours} */ side) =>
    median(side.taken.map(({ result, busy }) => result.bits / (busy - result.bits / direct.whole)));
  const gbit = (/** @type {number} */ value) => (value / 1e9).toFixed(2);
  const goodput = `ours ${gbit(ours.goodput)} Gbit/s, kernel ${gbit(kernel.goodput)}, no router ${gbit(direct.goodput)}`;
  const whole = [
    `ours ${gbit(ours.whole)} (±${percent(ours.spread)})`,
    `kernel ${gbit(kernel.whole)} (±${percent(kernel.spread)})`,
  ];
  return {
    name,
    unit: 'bits per core-second',
    ours: ours.whole,
    baseline: kernel.whole,
    ratio: ours.whole / kernel.whole,
    details: [
      `goodput: ${goodput}; ratio ${(ours.goodput / kernel.goodput).toFixed(2)}`,
      `Gbit per core-second of the whole box: ${whole.join(', ')}, no router ${gbit(direct.whole)}; ratio ${(ours.whole / kernel.whole).toFixed(2)} ←`,
      `the same without what both ends cost: ours ${gbit(alone(ours))}, kernel ${gbit(alone(kernel))}; ratio ${(alone(ours) / alone(kernel)).toFixed(2)}`,
    ],
  };
}

/** @param {{ result: { bits: number, seconds: number } }} sample */
const bitsPerSecond = ({ result }) => result.bits / result.seconds;

/**
 * Whether our router did what it was measured for: the flow cache's share of what it received, and drops.
 * @param {Extract<import('@tollway/dataplane-agent').ReplyBody, { op: 'stats' }>} stats
 */
function agentRemarks(stats) {
  const received = stats.interfaces.reduce((sum, port) => sum + port['rx-packets'], 0);
  const fast = stats['fast-path']['fast-path-packets'] + stats['fast-path']['fasttrack-packets'];
  const drops = stats.drops.map((drop) => `${drop.packets} ${drop.reason}`);
  return [`our agent: ${percent(fast / received)} by the flow cache; dropped: ${drops.join(', ') || 'nothing'}`];
}

/** Whether both routers' queues processed the traffic. @param {ReturnType<import('./lab.mjs').Lab['queued']>} passed */
function queueRemark({ ours, kernel, dropped }) {
  if (ours === 0 || kernel === 0) throw new Error('the traffic did not pass the queues');
  const gigabytes = (/** @type {number} */ bytes) => (bytes / 1e9).toFixed(1);
  return `through the queue: ours ${gigabytes(ours)} GB (${dropped} packets dropped), kernel ${gigabytes(kernel)} GB`;
}
