import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Arrival, Capture, mostAhead, pauses, rateOf } from './capture.ts';
import { countPackets } from './counter.ts';
import type { Host } from './netns.ts';
import {
  addAddress,
  addQueues,
  preferAgent,
  QUEUE,
  removeQueues,
  revisions,
  serveFlows,
  startFlows,
  upDown,
} from './queue.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** Queues under load while the configuration changes, while the agent dies, and while they are not reached. */

const CLIENT = '192.168.88.40';
const PORT = 7060;
const PACKET_BYTES = 1000;
const PACKET_BITS = PACKET_BYTES * 8;
/** Time that a bucket holds at the full rate, s. */
const BUCKET_S = 0.1;

let router: Router;
let lan: Host;
let server: Host;

beforeAll(async () => {
  router = await newRouter().up();
  await removeQueues(router.rest);
  preferAgent(router);
  [lan, server] = [router.host('lan'), router.host('server')];
  addAddress(lan, CLIENT);
  await serveFlows(server, PORT, 8);
});
afterEach(() => removeQueues(router.rest));
afterAll(() => dispose(router));

/** Longer than any test here sends, s. */
const UNTIL_ENDED_S = 600;

interface Upload {
  readonly startedMs: number;
  /** Packets that arrived at the server when the time is up. */
  readonly arrived: Promise<Arrival[]>;
  /** Sends no more. */
  readonly end: () => void;
}

/** Sends from the client. */
async function upload(port: number, rate: number, seconds = UNTIL_ENDED_S): Promise<Upload> {
  const capture = await Capture.start(server, 'udp', 'dst', 'port', String(port));
  const flow = { from: CLIENT, port, up: rate, down: 0, bytes: PACKET_BYTES, seconds };
  const { startedMs, sending } = await startFlows(lan, [flow]);
  const arrived = sending.ended().then(() => capture.end());
  return { startedMs, arrived, end: () => void sending.end('SIGTERM') };
}

/** Bits of IP per second that arrived between two moments. */
function meanRate(packets: readonly Arrival[], fromMs: number, toMs: number): number {
  const bits = packets
    .filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs)
    .reduce((sum, { bytes }) => sum + bytes * 8, 0);
  return (bits / (toMs - fromMs)) * 1000;
}

test('a changed limit, disabling, enabling and removing hold within a second', async () => {
  const id = await router.rest.add(QUEUE, { name: 'client', target: CLIENT, 'max-limit': '2M/2M' });
  const { arrived, end } = await upload(PORT, 8e6);
  const steps: { rate: number; fromMs: number; toMs: number }[] = [];
  const hold = async (rate: number) => {
    await sleep(1000);
    const fromMs = Date.now();
    await sleep(2000);
    steps.push({ rate, fromMs, toMs: Date.now() });
  };
  await hold(2e6);
  await router.rest.set(QUEUE, id, { 'max-limit': '4M/2M' });
  await hold(4e6);
  await router.rest.set(QUEUE, id, { disabled: 'true' });
  await hold(8e6);
  await router.rest.set(QUEUE, id, { disabled: 'false' });
  await hold(4e6);
  await router.rest.remove(QUEUE, id);
  await hold(8e6);
  end();
  const packets = await arrived;
  for (const [index, { rate, fromMs, toMs }] of steps.entries()) {
    const mean = meanRate(packets, fromMs, toMs);
    expect(mean, `step ${index}`).toBeGreaterThan(rate * 0.97);
    expect(mean, `step ${index}`).toBeLessThan(rate * 1.03);
  }
});

test('1,000 queues added at once: nothing is lost and a queue in use does not notice', async () => {
  const LIMIT = 4e6;
  const id = await router.rest.add(QUEUE, { name: 'client', target: CLIENT, 'max-limit': '4M/4M' });
  const counts = () => router.rest.get(QUEUE, id).then((row) => [upDown(row, 'packets'), upDown(row, 'dropped')]);
  const sent = countPackets(lan, 'output', 'udp', 'dport', '5201');
  const arrived = countPackets(server, 'prerouting', 'udp', 'dport', '5201');
  const offered = countPackets(lan, 'output', 'udp', 'dport', String(PORT + 1));
  const ping = lan.start('ping', '-n', '-q', '-i', '0.01', '-c', '700', SERVER);
  // About 10,000 packets a second that no queue takes.
  const stream = lan.start('iperf3', '-c', SERVER, '-u', '-b', '5M', '-l', '64', '-t', '8');
  const before = await revisions(router.rest);
  const limited = await upload(PORT + 1, 2 * LIMIT, 7.5);
  await sleep(2000);
  const halfway = await counts();
  const ids = await addQueues(
    router.rest,
    Array.from({ length: 1000 }, (_, index) => ({
      name: `other${index}`,
      target: `172.16.${index >> 8}.${index & 255}`,
      'max-limit': '1M/1M',
    })),
  );
  expect(ids.length).toBe(1000);
  expect(await revisions(router.rest)).toBe(before + 1);
  const after = await counts();
  for (const direction of [0, 1]) {
    // Counting has gone on from where it was.
    expect(after[direction]?.upload).toBeGreaterThan(halfway[direction]?.upload ?? Number.NaN);
  }

  const packets = await limited.arrived;
  const seconds = 6;
  const rate = rateOf(packets, LIMIT, limited.startedMs + 1000, seconds);
  expect(rate, pauses(packets)).toBeGreaterThanOrEqual(LIMIT * 0.99);
  expect(rate).toBeLessThanOrEqual(LIMIT + PACKET_BITS / seconds);
  expect(mostAhead(packets, LIMIT)).toBeLessThanOrEqual(LIMIT * BUCKET_S + 2 * PACKET_BITS);
  const [passed, dropped] = await eventually(async () => {
    const now = await counts();
    return (now[0]?.upload ?? 0) + (now[1]?.upload ?? 0) === offered().packets ? now : undefined;
  });
  expect(passed?.upload).toBe(packets.length);
  expect(dropped?.upload).toBeGreaterThan(0);

  expect((await ping.ended()).stdout).toContain('700 packets transmitted, 700 received');
  const ran = await stream.ended();
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  // A fifth of what the stream offers: on a busy machine iperf3 falls behind.
  expect(sent().packets).toBeGreaterThan(15_000);
  expect(arrived().packets).toBe(sent().packets);
});

test('a queue that is not reached costs neither loss nor order', async () => {
  const id = await router.rest.add(QUEUE, { name: 'client', target: CLIENT, 'max-limit': '100M/100M' });
  const sent = countPackets(lan, 'output', 'udp', 'dport', '5201');
  const arrived = countPackets(server, 'prerouting', 'udp', 'dport', '5201');
  // Sixteen flows, so that every worker has some; the queue belongs to one of them.
  const { code, stdout } = await lan
    .start('iperf3', '-c', SERVER, '-B', CLIENT, '-u', '-P', '16', '-b', '1M', '-l', '250', '-t', '5', '-J')
    .ended();
  expect(code, stdout).toBe(0);
  expect(sent().packets).toBeGreaterThan(8_000);
  expect(arrived().packets).toBe(sent().packets);
  const streams: { udp: { out_of_order: number } }[] = JSON.parse(stdout).end.streams;
  expect(streams.map(({ udp }) => udp.out_of_order)).toEqual(Array(16).fill(0));
  const row = await router.rest.get(QUEUE, id);
  expect(upDown(row, 'dropped')).toEqual({ upload: 0, download: 0 });
  expect(upDown(row, 'packets').upload).toBeGreaterThanOrEqual(sent().packets);
});

test('kill -9 of the agent: the limit holds from the first packet after it', async () => {
  const LIMIT = 4e6;
  await router.rest.add(QUEUE, { name: 'client', target: CLIENT, 'max-limit': '4M/4M' });
  const limited = await upload(PORT + 2, 2 * LIMIT);
  await sleep(2000);
  const killed = router.pid('agent');
  process.kill(killed, 'SIGKILL');
  // Its threads end when each gets a core, and forward until then.
  await eventually(() => !existsSync(`/proc/${killed}`), 10_000, 5);
  const goneMs = Date.now();
  await eventually(() => router.pid('agent') !== killed, 90_000);
  preferAgent(router);
  await eventually(() => router.healthy(), 90_000);
  await sleep(4000);
  limited.end();
  const packets = await limited.arrived;
  const after = packets.filter(({ timeMs }) => timeMs > goneMs + 20);
  // The port is up again for four seconds.
  expect(after.length * PACKET_BITS).toBeGreaterThan(LIMIT * 2);
  expect(mostAhead(after, LIMIT)).toBeLessThanOrEqual(LIMIT * BUCKET_S + 2 * PACKET_BITS);
  const lastMs = after.at(-1)?.timeMs ?? 0;
  expect(meanRate(after, lastMs - 2000, lastMs)).toBeGreaterThan(LIMIT * 0.97);
});
