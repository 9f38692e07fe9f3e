import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Capture, pauses, rateOf } from './capture.ts';
import { countPackets } from './counter.ts';
import type { Host } from './netns.ts';
import {
  addAddress,
  addQueues,
  preferAgent,
  QUEUE,
  removeQueues,
  serveFlows,
  startFlows,
  type UpDown,
  upDown,
  watchDrops,
} from './queue.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually } from './wait.ts';

/** Tests of the packets that a simple queue takes, in which direction, and of its counters. */

/** Address of lan that nothing else of the lab uses. */
const CLIENT = '192.168.88.40';
const OTHER = '192.168.89.40';
/** The address that lan2 answers from. */
const LAN2 = '192.168.89.10';
/** Echo request or reply with 56 bytes of data, with its IP header. */
const ECHO_BYTES = 84;

let router: Router;
let lan: Host;
let lan2: Host;
const added: string[] = [];

beforeAll(async () => {
  router = await newRouter().up();
  await removeQueues(router.rest);
  preferAgent(router);
  [lan, lan2] = [router.host('lan'), router.host('lan2')];
  addAddress(lan, CLIENT);
  addAddress(lan2, OTHER);
});
afterEach(async () => {
  for (const id of added.splice(0)) await router.rest.remove(QUEUE, id);
});
afterAll(() => dispose(router));

async function addQueue(row: Readonly<Record<string, string>>): Promise<string> {
  const id = await router.rest.add(QUEUE, row);
  added.push(id);
  return id;
}

const figure = async (id: string, property: string): Promise<UpDown> =>
  upDown(await router.rest.get(QUEUE, id), property);

/** Waits until a queue has counted these packets and no more, and these bytes when they are given. */
async function expectPackets(id: string, packets: UpDown, bytes?: UpDown): Promise<void> {
  await eventually(async () => {
    expect(await figure(id, 'packets')).toEqual(packets);
    return true;
  }, 3000);
  if (bytes !== undefined) expect(await figure(id, 'bytes')).toEqual(bytes);
}

/** Pings from an address of a host; all of them have to be answered. */
function pingFrom(host: Host, from: string, to: string, count: number, ...options: string[]): void {
  const { stdout } = host.run('ping', '-n', '-i', '0.02', '-W', '2', '-c', String(count), '-I', from, ...options, to);
  expect(stdout).toContain(` ${count} received`);
}

describe('which queue takes a packet, and in which direction', () => {
  test('upload is from the target and download to it, before the masquerade', async () => {
    const id = await addQueue({ name: 'client', target: CLIENT, 'max-limit': '10M/10M' });
    pingFrom(lan, CLIENT, SERVER, 20);
    await expectPackets(id, { upload: 20, download: 20 }, { upload: 20 * ECHO_BYTES, download: 20 * ECHO_BYTES });
    // Traffic of others does not count.
    pingFrom(lan2, OTHER, SERVER, 5);
    await expectPackets(id, { upload: 20, download: 20 });
    await router.rest.command(`${QUEUE}/reset-counters`, { numbers: id });
    await expectPackets(id, { upload: 0, download: 0 }, { upload: 0, download: 0 });
  });

  test('the first of the list that fits takes it, also after a move', async () => {
    const network = await addQueue({ name: 'network', target: '192.168.88.0/24' });
    const host = await addQueue({ name: 'host', target: `10.1.1.0/24,${CLIENT}` });
    // The lab's own traffic from the network goes on; only the queue of the host is free of it.
    pingFrom(lan, CLIENT, SERVER, 10);
    await eventually(async () => (await figure(network, 'packets')).upload >= 10);
    expect(await figure(host, 'packets')).toEqual({ upload: 0, download: 0 });
    await router.rest.command(`${QUEUE}/move`, { numbers: host, destination: network });
    pingFrom(lan, CLIENT, SERVER, 10);
    await expectPackets(host, { upload: 10, download: 10 });
    // While it is off the other one has them; it counts from zero when it is on again.
    await router.rest.set(QUEUE, host, { disabled: 'true' });
    pingFrom(lan, CLIENT, SERVER, 10);
    await eventually(async () => (await figure(network, 'packets')).upload >= 20);
    await router.rest.set(QUEUE, host, { disabled: 'false' });
    pingFrom(lan, CLIENT, SERVER, 10);
    await expectPackets(host, { upload: 10, download: 10 });
  });

  test('between two addresses of the target everything is download', async () => {
    const id = await addQueue({ name: 'both', target: `${CLIENT},${OTHER}` });
    pingFrom(lan, CLIENT, OTHER, 10);
    await expectPackets(id, { upload: 0, download: 20 }, { upload: 0, download: 20 * ECHO_BYTES });
  });

  test('with two queues the first in the list decides, and with it the direction', async () => {
    const first = await addQueue({ name: 'first', target: CLIENT });
    const second = await addQueue({ name: 'second', target: OTHER });
    pingFrom(lan, CLIENT, OTHER, 10);
    await expectPackets(first, { upload: 10, download: 10 });
    expect(await figure(second, 'packets')).toEqual({ upload: 0, download: 0 });
  });
});

describe('traffic of every kind is queued', () => {
  test('to the router and from the router', async () => {
    const id = await addQueue({ name: 'client', target: CLIENT, 'max-limit': '10M/10M' });
    router.host('router').must('ping', '-n', '-q', '-i', '0.02', '-c', '10', CLIENT);
    await expectPackets(id, { upload: 10, download: 10 }, { upload: 10 * ECHO_BYTES, download: 10 * ECHO_BYTES });
    // The router answers these itself.
    pingFrom(lan, CLIENT, '192.168.88.1', 10);
    await expectPackets(id, { upload: 20, download: 20 }, { upload: 20 * ECHO_BYTES, download: 20 * ECHO_BYTES });
  });

  test('fragments', async () => {
    const id = await addQueue({ name: 'client', target: CLIENT, 'max-limit': '10M/10M' });
    // 4,008 bytes of ICMP in pieces of 1,480, 1,480 and 1,048, each with an IP header.
    pingFrom(lan, CLIENT, SERVER, 10, '-s', '4000');
    const [packets, bytes] = [30, 10 * (4008 + 3 * 20)];
    await expectPackets(id, { upload: packets, download: packets }, { upload: bytes, download: bytes });
  });

  test('without connection tracking', async () => {
    const id = await addQueue({ name: 'client', target: CLIENT, 'max-limit': '10M/10M' });
    const tracking = '/ip/firewall/connection/tracking';
    await router.rest.command(`${tracking}/set`, { enabled: 'no' });
    try {
      pingFrom(lan, CLIENT, OTHER, 10);
      await expectPackets(id, { upload: 10, download: 10 });
      await expectLimitBetween(10e6);
    } finally {
      await router.rest.command(`${tracking}/set`, { enabled: 'auto' });
    }
  });

  /** Expects twice the limit from the client at lan2 to arrive at the limit, −2 % and within a packet. */
  async function expectLimitBetween(limit: number): Promise<void> {
    const [port, bytes, seconds] = [7040, 1000, 2];
    const serving = await serveFlows(lan2, port, 1);
    const capture = await Capture.start(lan2, 'udp', 'dst', 'port', String(port));
    const flow = { from: CLIENT, port, up: 2 * limit, down: 0, bytes, seconds: seconds + 1 };
    const { startedMs, sending } = await startFlows(lan, [flow], LAN2);
    await sending.ended();
    const packets = await capture.end();
    await serving.end('SIGTERM');
    const rate = rateOf(packets, limit, startedMs + 500, seconds);
    expect(rate, pauses(packets)).toBeGreaterThanOrEqual(limit * 0.98);
    expect(rate).toBeLessThanOrEqual(limit + (bytes * 8) / seconds);
  }

  test('ICMP errors that a packet of the target causes', async () => {
    const id = await addQueue({ name: 'client', target: CLIENT });
    // The router answers that the time to live ran out: 28 bytes and the packet, at most 576 in all (RFC 1812 §4.3.2.3).
    lan.run('ping', '-n', '-t', '1', '-c', '5', '-i', '0.02', '-W', '1', '-I', CLIENT, SERVER);
    await eventually(async () => (await figure(id, 'packets')).download === 5);
  });
});

test('what was sent is what passed and what was dropped, exactly, when the queue has drained', async () => {
  const PORT = 7050;
  const id = await addQueue({ name: 'client', target: CLIENT, 'max-limit': '2M/2M' });
  const server = router.host('server');
  const serving = await serveFlows(server, PORT, 1);
  const port = ['udp', 'dport', String(PORT)];
  const [sent, arrived] = [countPackets(lan, 'output', ...port), countPackets(server, 'prerouting', ...port)];
  const [answered, heard] = [
    countPackets(server, 'output', 'udp', 'sport', String(PORT)),
    countPackets(lan, 'prerouting', 'udp', 'sport', String(PORT)),
  ];
  const drops = await watchDrops(router);
  const { sending } = await startFlows(lan, [
    { from: CLIENT, port: PORT, up: 4e6, down: 4e6, bytes: 1000, seconds: 4 },
  ]);
  // Full, it holds what its type lets it, and passes what it may.
  await eventually(async () => {
    const [queued, rate] = [await figure(id, 'queued-packets'), await figure(id, 'rate')];
    for (const waiting of [queued.upload, queued.download]) {
      expect(waiting).toBeGreaterThan(0);
      expect(waiting).toBeLessThanOrEqual(10);
    }
    for (const each of [rate.upload, rate.download]) {
      expect(each).toBeGreaterThan(1.9e6);
      expect(each).toBeLessThan(2.1e6);
    }
    return true;
  });
  await sending.ended();
  await eventually(async () => {
    expect(await figure(id, 'queued-packets')).toEqual({ upload: 0, download: 0 });
    expect(await figure(id, 'rate')).toEqual({ upload: 0, download: 0 });
    return true;
  });
  expect(await figure(id, 'queued-bytes')).toEqual({ upload: 0, download: 0 });
  const [packets, bytes, dropped] = await Promise.all(
    ['packets', 'bytes', 'dropped'].map((property) => figure(id, property)),
  );
  expect(packets).toEqual({ upload: arrived().packets, download: heard().packets });
  expect(bytes).toEqual({ upload: arrived().bytes, download: heard().bytes });
  expect(dropped).toEqual({
    upload: sent().packets - arrived().packets,
    download: answered().packets - heard().packets,
  });
  await serving.end('SIGTERM');
  // Half of about 2,000 in each direction.
  expect(dropped?.upload).toBeGreaterThan(500);
  expect(dropped?.download).toBeGreaterThan(500);
  // A sum of rates of about a second each.
  const full = drops.end().get('queue-full') ?? 0;
  const all = (dropped?.upload ?? 0) + (dropped?.download ?? 0);
  expect(full).toBeGreaterThan(all * 0.7);
  expect(full).toBeLessThan(all * 1.3);
});

test('queues are added all or none', async () => {
  const rows = [
    { name: 'good', target: '10.2.0.1', 'max-limit': '1M/1M' },
    { name: 'bad', target: '10.2.0.300', 'max-limit': '1M/1M' },
  ];
  const answer = await router.rest.request('PUT', `/rest${QUEUE}`, rows);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toContain('target');
  expect(await router.rest.list(QUEUE)).toEqual([]);
  added.push(...(await addQueues(router.rest, rows.slice(0, 1))));
  expect((await router.rest.list(QUEUE)).map((row) => row.name)).toEqual(['good']);
});
