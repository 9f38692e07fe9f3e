// The wire cases: two routers with the same configuration, measured in turns.
import { setTimeout as sleep } from 'node:timers/promises';
import { measureBusy } from './busy.mjs';
import { runAsync } from './command.mjs';
import { ROUTER_MAC, SINK_ADDRESS } from './lab.mjs';

/** Flows of the packet generator. */
const FLOWS = 4096;
/** Offered loads, packets/s. The case's figure is that of the highest one that both routers carry. */
const RATES = [50_000, 100_000, 200_000];
/** Share of offered packets that may be lost at a load that counts as carried. */
const LOSS = 0.005;
/** Share of one core that other programs may use in a window that counts. */
const FOREIGN = 0.03;
/** How often a disturbed window is measured again before it is used as it is. */
const RETRIES = 8;

export async function runWireCase(entry, context) {
  const { lab } = context;
  lab.addDirect();
  lab.addKernelRouter(entry.scenario);
  await lab.addOurRouter(entry.scenario);
  return entry.load === 'packets' ? packets(entry, context) : tcp(entry, context);
}

async function packets(entry, { lab, quick, note }) {
  const wires = ['direct', 'kernel', 'ours'];
  for (const wire of wires) lab.dropAtSink(wire);
  const seconds = quick ? 0.7 : 1.5;
  const offer = async (wire, rate, count) => {
    const words = [lab.bench, 'send', '--interface', 'eth0', '--destination-mac', ROUTER_MAC, '--flows', String(FLOWS)];
    const [program, args] = lab.command(`${wire}-gen`, [...words, '--rate', String(rate), '--count', String(count)]);
    await runAsync(program, args);
    await sleep(50);
  };
  for (const wire of wires) for (let turn = 0; turn < 2; turn += 1) await offer(wire, 20_000, FLOWS);

  const loads = [];
  for (const rate of quick ? RATES.slice(1, 2) : RATES) {
    const count = Math.round(rate * seconds);
    const samples = await inTurns(quick ? 2 : 4, wires, note, async (wire) => {
      const before = lab.received(wire);
      const window = await measured(() => offer(wire, rate, count));
      return { ...window, arrived: lab.received(wire) - before };
    });
    const generator = median(samples.direct.map((sample) => sample.busy));
    const of = (wire) => {
      const perCore = samples[wire].map((sample) => sample.arrived / (sample.busy - generator));
      const arrived = median(samples[wire].map((sample) => sample.arrived));
      return { value: median(perCore), spread: spread(perCore), lost: Math.max(0, 1 - arrived / count) };
    };
    loads.push({ rate, count, generator, ours: of('ours'), kernel: of('kernel'), seconds });
  }
  const carried = loads.filter((load) => Math.max(load.ours.lost, load.kernel.lost) <= LOSS);
  const chosen = carried.at(-1) ?? loads[0];
  return {
    name: entry.name,
    unit: 'packets per core-second',
    ours: chosen.ours.value,
    baseline: chosen.kernel.value,
    ratio: chosen.ours.value / chosen.kernel.value,
    io: 'af-packet',
    details: loads.map((load) => {
      const cost = (side) => `${(1e6 / side.value).toFixed(2)} µs (±${percent(side.spread)}, lost ${percent(side.lost)})`;
      const mark = load === chosen ? ' ←' : '';
      return `${load.rate / 1000} kpps: ours ${cost(load.ours)}, kernel ${cost(load.kernel)}, generator ${((1e6 * load.generator) / load.count).toFixed(2)} µs, ratio ${(load.ours.value / load.kernel.value).toFixed(2)}${mark}`;
    }),
  };
}

async function tcp(entry, { lab, quick, note }) {
  const wires = ['direct', 'kernel', 'ours'];
  for (const wire of wires) lab.start(`${wire}-sink`, ['iperf3', '--server']);
  await sleep(300);
  const transfer = async (wire) => {
    const words = ['iperf3', '--client', SINK_ADDRESS, '--time', quick ? '1' : '3', '--json'];
    const report = JSON.parse(await runAsync(...lab.command(`${wire}-gen`, words)));
    return { bits: report.end.sum_received.bytes * 8, seconds: report.end.sum_received.seconds };
  };
  for (const wire of wires) await transfer(wire);

  const samples = await inTurns(quick ? 2 : 4, wires, note, (wire) => measured(() => transfer(wire)));
  const whole = (wire) => samples[wire].map((sample) => sample.result.bits / sample.busy);
  const endsPerBit = 1 / median(whole('direct'));
  const net = (wire) => samples[wire].map((sample) => sample.result.bits / (sample.busy - endsPerBit * sample.result.bits));
  const rate = (wire) => median(samples[wire].map((sample) => sample.result.bits / sample.result.seconds));
  const [ours, kernel] = [median(whole('ours')), median(whole('kernel'))];
  const gbit = (value) => (value / 1e9).toFixed(2);
  const routers = [median(net('ours')), median(net('kernel'))];
  return {
    name: entry.name,
    unit: 'bits per core-second',
    ours,
    baseline: kernel,
    ratio: ours / kernel,
    io: 'af-packet',
    details: [
      `goodput: ours ${gbit(rate('ours'))} Gbit/s, kernel ${gbit(rate('kernel'))}, no router ${gbit(rate('direct'))}, ratio ${(rate('ours') / rate('kernel')).toFixed(2)}`,
      `whole box: ours ${gbit(ours)} Gbit per core-second (±${percent(spread(whole('ours')))}), kernel ${gbit(kernel)} (±${percent(spread(whole('kernel')))}), no router ${gbit(1 / endsPerBit)}`,
      `router alone (ends subtracted): ours ${gbit(routers[0])} Gbit per core-second, kernel ${gbit(routers[1])}, ratio ${(routers[0] / routers[1]).toFixed(2)}`,
    ],
  };
}

/** CPU time while `action` runs, and what it returns. */
async function measured(action) {
  const finish = measureBusy();
  const result = await action();
  return { ...finish(), result };
}

/**
 * Takes samples on the wires in turn, A-B-C-A-B-C-…, so that a change of the machine's mood meets all
 * alike. Samples during which other programs took CPU time are taken again.
 */
async function inTurns(rounds, wires, note, sample) {
  const samples = Object.fromEntries(wires.map((wire) => [wire, []]));
  let retries = RETRIES;
  const undisturbed = async (wire) => {
    for (;;) {
      const taken = await sample(wire);
      const elsewhere = taken.foreign / taken.seconds;
      if (process.env.TOLLWAY_BENCH_RAW) note(`  ${wire} ${JSON.stringify(taken)}`);
      if (elsewhere <= FOREIGN) return taken;
      if (retries === 0) {
        note(`  ${wire}: other programs used ${percent(elsewhere)} of a core`);
        return taken;
      }
      retries -= 1;
      await sleep(500);
    }
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const wire of wires) samples[wire].push(await undisturbed(wire));
  }
  return samples;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Half the range of values, relative to their median. */
function spread(values) {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}

function percent(share) {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}
