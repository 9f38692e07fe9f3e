import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Arrival, Capture, longestPause, mostAhead, pauses, rateOf } from './capture.ts';
import type { Host } from './netns.ts';
import {
  addAddress,
  addQueues,
  type Flow,
  fasttracked,
  preferAgent,
  QUEUE,
  removeQueues,
  revisions,
  serveFlows,
  startFlows,
  upDown,
} from './queue.ts';
import type { Row } from './rest.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';

/**
 * Tests of the rates of simple queues, with the default rules: masquerade and the fasttrack pair. Rates are measured where
 * the packets arrive, from the lengths in their IP headers and the kernel's times of arrival.
 */

const LAPTOP = '192.168.88.40';
const TV = '192.168.89.40';
const LAPTOP_PORT = 7000;
const TV_PORT = 7001;
const CROWD_PORT = 7100;
const LAPTOP_LIMIT = 20e6;
const TV_LIMIT = 5e6;
const PACKET_BYTES = 1500;
/** Time that a bucket holds at the full rate, s. */
const BUCKET_S = 0.1;
/**
 * Time by which a packet may arrive later than the router let it go, s: the core is shared with the senders. What comes
 * late counts to a stretch that it does not belong to. Bounds without such slack are checked on virtual time.
 */
const LATE_S = 0.05;
/** The delay at both ends of a window, each of which is the best of many packets, s. */
const LATE_AT_END_S = 0.005;
/** Measurements of one thing: one in which nothing arrived for longer than a bucket lasts tells of the machine only. */
const ATTEMPTS = 3;
/** Longest that they may take together, ms. */
const SATURATE_MS = 120_000;
const WARM_UP_S = 3;
const WINDOW_S = 6;

let router: Router;
let lan: Host;
let lan2: Host;
let server: Host;

beforeAll(async () => {
  router = await newRouter().up();
  await removeQueues(router.rest);
  preferAgent(router);
  [lan, lan2, server] = [router.host('lan'), router.host('lan2'), router.host('server')];
  addAddress(lan, LAPTOP);
  addAddress(lan2, TV);
  await serveFlows(server, LAPTOP_PORT, 2);
  await addQueues(router.rest, [
    { name: 'laptop', target: LAPTOP, 'max-limit': '20M/20M' },
    { name: 'tv', target: TV, 'max-limit': '5M/5M' },
  ]);
});
afterAll(() => dispose(router));

const flow = (from: string, port: number, rates: { up: number; down: number }, seconds: number): Flow => ({
  from,
  port,
  ...rates,
  bytes: PACKET_BYTES,
  seconds,
});

/** The limit held: never more than a full bucket ahead of it, and over the window +0/−1 % within one packet. */
function expectLimit(packets: readonly Arrival[], limit: number, startedMs: number, whose: string): void {
  const what = `${whose}, ${pauses(packets)}`;
  const packetBits = PACKET_BYTES * 8;
  const rate = rateOf(packets, limit, startedMs + WARM_UP_S * 1000, WINDOW_S);
  expect(rate, what).toBeGreaterThanOrEqual(limit * 0.99);
  expect(rate, what).toBeLessThanOrEqual(limit + (packetBits + limit * LATE_AT_END_S) / WINDOW_S);
  // The packet that takes the last token may be larger than what is left, and a stretch begins with a whole packet.
  expect(mostAhead(packets, limit), what).toBeLessThanOrEqual(limit * (BUCKET_S + LATE_S) + 2 * packetBits);
}

/** Runs both hosts at twice their limits, in the directions given, and checks every direction that is used. */
async function saturate(uses: Uses): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const used = await measure(uses);
    const stood = used.some(({ packets }) => longestPause(packets) >= BUCKET_S * 1000);
    if (stood && attempt < ATTEMPTS) continue;
    for (const { packets, limit, startedMs, what } of used) expectLimit(packets, limit, startedMs, what);
    return;
  }
}

interface Uses {
  readonly laptop: 'up' | 'down' | 'both';
  readonly tv: 'up' | 'down' | 'both';
}

interface Measured {
  readonly packets: readonly Arrival[];
  readonly limit: number;
  readonly startedMs: number;
  readonly what: string;
}

/** One run at twice the limits: what arrived in each direction that is used. */
async function measure(uses: Uses): Promise<Measured[]> {
  const seconds = WARM_UP_S + WINDOW_S + 0.5;
  const offered = (limit: number, use: 'up' | 'down' | 'both') => ({
    up: use === 'down' ? 0 : 2 * limit,
    down: use === 'up' ? 0 : 2 * limit,
  });
  const captures = await Promise.all([
    Capture.start(server, 'udp', 'portrange', `${LAPTOP_PORT}-${TV_PORT}`),
    Capture.start(lan, 'udp', 'and', 'dst', 'host', LAPTOP),
    Capture.start(lan2, 'udp', 'and', 'dst', 'host', TV),
  ]);
  const [laptop, tv] = await Promise.all([
    startFlows(lan, [flow(LAPTOP, LAPTOP_PORT, offered(LAPTOP_LIMIT, uses.laptop), seconds)]),
    startFlows(lan2, [flow(TV, TV_PORT, offered(TV_LIMIT, uses.tv), seconds)]),
  ]);
  const late = (await Promise.all([laptop.sending.ended(), tv.sending.ended()])).map(({ stdout }) =>
    /late \d+/.exec(stdout),
  );
  const [atServer, atLaptop, atTv] = await Promise.all(captures.map((capture) => capture.end()));
  const to = (port: number) => (atServer ?? []).filter(({ destinationPort }) => destinationPort === port);
  const directions = [
    [uses.laptop !== 'down', to(LAPTOP_PORT), LAPTOP_LIMIT, laptop.startedMs, 'upload of laptop'],
    [uses.laptop !== 'up', atLaptop ?? [], LAPTOP_LIMIT, laptop.startedMs, 'download of laptop'],
    [uses.tv !== 'down', to(TV_PORT), TV_LIMIT, tv.startedMs, 'upload of tv'],
    [uses.tv !== 'up', atTv ?? [], TV_LIMIT, tv.startedMs, 'download of tv'],
  ] as const;
  return directions.flatMap(([used, packets, limit, startedMs, what]) =>
    used ? [{ packets, limit, startedMs, what: `${what} (senders: ${late.join(', ')} ms)` }] : [],
  );
}

describe('20M/20M and 5M/5M on two hosts, UDP at twice the rate', () => {
  test('upload of one and download of the other', () => saturate({ laptop: 'up', tv: 'down' }), SATURATE_MS);
  test('download of one and upload of the other', () => saturate({ laptop: 'down', tv: 'up' }), SATURATE_MS);
  test('both directions of both', () => saturate({ laptop: 'both', tv: 'both' }), SATURATE_MS);
  test('more than 95 % of the packets took FastTrack', async () => {
    expect(await fasttracked(router.rest, LAPTOP)).toBeGreaterThan(0.95);
    expect(await fasttracked(router.rest, TV)).toBeGreaterThan(0.95);
  });
});

test.each(['upload', 'download'])('TCP gets at least 18.8 Mbit/s out of 20M, %s', async (direction) => {
  const before = upDown(await router.rest.get(QUEUE, 'laptop'), 'bytes');
  const tv = await startFlows(lan2, [flow(TV, TV_PORT, { up: 2 * TV_LIMIT, down: 2 * TV_LIMIT }, 12)]);
  const reverse = direction === 'download' ? ['-R'] : [];
  // The first two seconds, with a full bucket, do not count.
  const iperf = await lan
    .start('iperf3', '-c', SERVER, '-B', LAPTOP, '-O', '2', '-t', String(WINDOW_S), '-J', ...reverse)
    .ended();
  expect(iperf.code, iperf.stdout + iperf.stderr).toBe(0);
  const { sum_received, sum_sent } = JSON.parse(iperf.stdout).end;
  expect(sum_received.bits_per_second, `retransmitted: ${sum_sent.retransmits}`).toBeGreaterThanOrEqual(18.8e6);
  expect(sum_received.bits_per_second).toBeLessThanOrEqual(LAPTOP_LIMIT);
  const after = upDown(await router.rest.get(QUEUE, 'laptop'), 'bytes');
  const passed = direction === 'upload' ? after.upload - before.upload : after.download - before.download;
  expect(passed).toBeGreaterThan(sum_received.bytes);
  expect(await fasttracked(router.rest, LAPTOP)).toBeGreaterThan(0.95);
  await tv.sending.ended();
});

test('1,000 queues loaded, 50 in use at once: each holds its limit within 2 %', async () => {
  const LIMIT = 1e6;
  const BYTES = 1250;
  const CROWD = 50;
  const subscriber = (index: number) => `192.168.88.${100 + index}`;
  // Every twentieth of the 1,000 is one of those in use.
  const rows: Row[] = Array.from({ length: 1000 }, (_, index) => ({
    name: `crowd${index}`,
    target: index % 20 === 10 ? subscriber((index - 10) / 20) : `172.16.${index >> 8}.${index & 255}`,
    'max-limit': '1M/1M',
  }));
  const before = await revisions(router.rest);
  onTestFinished(async () => {
    const crowd = (await router.rest.list(QUEUE)).filter(({ name }) => name?.startsWith('crowd'));
    await router.rest.command(`${QUEUE}/remove`, { '.id': crowd.map((row) => row['.id']).join(',') });
  });
  const ids = await addQueues(router.rest, rows);
  expect(ids.length).toBe(1000);
  expect(await revisions(router.rest)).toBe(before + 1);

  const serving = await serveFlows(server, CROWD_PORT, CROWD);
  onTestFinished(async () => void (await serving.end()));
  const flows = Array.from({ length: CROWD }, (_, index): Flow => {
    addAddress(lan, subscriber(index));
    // Half of them send, half of them receive.
    const rates = index % 2 === 0 ? { up: 2 * LIMIT, down: 0 } : { up: 0, down: 2 * LIMIT };
    return { from: subscriber(index), port: CROWD_PORT + index, ...rates, bytes: BYTES, seconds: 13.5 };
  });
  const captures = await Promise.all([
    Capture.start(server, 'udp', 'dst', 'portrange', `${CROWD_PORT}-${CROWD_PORT + CROWD - 1}`),
    Capture.start(lan, 'udp', 'src', 'portrange', `${CROWD_PORT}-${CROWD_PORT + CROWD - 1}`),
  ]);
  const { startedMs, sending } = await startFlows(lan, flows);
  await sending.ended();
  const [atServer = [], atLan = []] = await Promise.all(captures.map((capture) => capture.end()));
  const rates = flows.map(({ port, up }) => {
    const packets =
      up > 0
        ? atServer.filter(({ destinationPort }) => destinationPort === port)
        : atLan.filter(({ sourcePort }) => sourcePort === port);
    return rateOf(packets, LIMIT, startedMs + 3000, WINDOW_S);
  });
  expect(Math.min(...rates), rates.join(' ')).toBeGreaterThanOrEqual(LIMIT * 0.98);
  expect(Math.max(...rates), rates.join(' ')).toBeLessThanOrEqual(LIMIT * 1.02);
});
