import { afterAll, beforeAll, expect, test } from 'vitest';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** Routes that other programs put into the router's namespace, as FRR and BIRD do, followed by real packets. */

let router: Router;

beforeAll(async () => {
  router = await newRouter().up();
});
afterAll(() => dispose(router));

/** `ip route` in the router's namespace. */
const route = (...words: string[]) => router.host('router').must('ip', 'route', ...words);

async function listed(destination: string) {
  const rows = await router.rest.list('/ip/route');
  return rows.find((row) => row['dst-address'] === destination);
}

test('a route of another program is listed as dynamic, and goes when the program withdraws it', async () => {
  route('add', '192.0.2.0/24', 'via', '203.0.113.1', 'proto', '186', 'metric', '20');
  await eventually(async () => (await listed('192.0.2.0/24')) !== undefined);
  expect(await listed('192.0.2.0/24')).toMatchObject({
    dynamic: 'true',
    active: 'true',
    bgp: 'true',
    gateway: '203.0.113.1',
    distance: '20',
  });
  // Its id is its own: the route is found by it whatever comes before it.
  const id = (await listed('192.0.2.0/24'))?.['.id'];
  route('add', '192.0.1.0/24', 'via', '203.0.113.1', 'proto', '186');
  await eventually(async () => (await listed('192.0.1.0/24')) !== undefined);
  expect((await listed('192.0.2.0/24'))?.['.id']).toBe(id);
  route('del', '192.0.1.0/24');
  route('del', '192.0.2.0/24', 'metric', '20');
  await eventually(async () => (await listed('192.0.2.0/24')) === undefined);
});

test('packets of a running flow follow it, and the default route again when it is gone', async () => {
  const lan = router.host('lan');
  expect(lan.ping(SERVER, 2)).toBe(2);
  const ping = lan.start('ping', '-n', '-i', '0.1', SERVER);
  const answers = () => ping.stdout.match(/bytes from/g)?.length ?? 0;
  await eventually(() => answers() > 5);
  route('add', 'blackhole', `${SERVER}/32`, 'proto', 'static');
  await eventually(async () => (await listed(`${SERVER}/32`)) !== undefined);
  await sleep(300);
  const before = answers();
  await sleep(1000);
  expect(answers()).toBe(before);
  route('del', 'blackhole', `${SERVER}/32`);
  await eventually(() => answers() > before + 5);
  await ping.end('SIGINT');
});

test('a route of type unreachable or prohibit is answered as Linux answers it, a blackhole not at all', async () => {
  const lan = router.host('lan');
  const ping = () => lan.run('ping', '-n', '-c', '2', '-i', '0.3', '-W', '1', '192.0.2.7').stdout;
  const types = [
    ['unreachable', /Destination Host Unreachable/],
    ['prohibit', /Packet filtered/],
  ] as const;
  for (const [type, answer] of types) {
    route('add', type, '192.0.2.0/24', 'proto', 'static');
    await eventually(async () => (await listed('192.0.2.0/24')) !== undefined);
    const row = await listed('192.0.2.0/24');
    expect(row).toMatchObject({ active: 'true', dynamic: 'true', [type]: 'true' });
    expect(row?.blackhole).toBeUndefined();
    expect(ping()).toMatch(answer);
    route('del', type, '192.0.2.0/24');
    await eventually(async () => (await listed('192.0.2.0/24')) === undefined);
  }
  route('add', 'blackhole', '192.0.2.0/24', 'proto', 'static');
  await eventually(async () => (await listed('192.0.2.0/24'))?.blackhole === 'true');
  expect(ping()).not.toMatch(/From/);
  route('del', 'blackhole', '192.0.2.0/24');
});

test('a route of several next hops goes by the first, and says so', async () => {
  const hops = ['203.0.113.1', '203.0.113.3'].flatMap((gateway) => ['nexthop', 'via', gateway]);
  route('add', '192.0.2.0/24', 'proto', '186', ...hops);
  await eventually(async () => (await listed('192.0.2.0/24')) !== undefined);
  expect(await listed('192.0.2.0/24')).toMatchObject({
    active: 'true',
    gateway: '203.0.113.1',
    hint: expect.stringContaining('only the first'),
  });
  route('replace', '192.0.2.0/24', 'proto', '186', 'via', '203.0.113.1');
  await eventually(async () => (await listed('192.0.2.0/24'))?.hint === undefined);
  route('del', '192.0.2.0/24');
  await eventually(async () => (await listed('192.0.2.0/24')) === undefined);
});

test('routes of IPv6 come, lead packets, lose a next hop and go', async () => {
  const [gateway, other, destination] = ['2001:db8:203::1', '2001:db8:203::3', '2001:db8:beef::/48'];
  const six = (...words: string[]) => router.host('router').must('ip', '-6', 'route', ...words);
  const known = async () => (await router.rest.list('/ipv6/route')).find((row) => row['dst-address'] === destination);
  await eventually(async () => (await router.rest.list('/ipv6/route')).some((row) => row.connect === 'true'));
  six('add', destination, 'via', gateway, 'proto', '186', 'metric', '20');
  await eventually(async () => (await known())?.active === 'true');
  expect(await known()).toMatchObject({ dynamic: 'true', bgp: 'true', gateway, distance: '20' });
  const id = (await known())?.['.id'] ?? '';
  expect(id).toMatch(/^\*80000030[0-9A-F]{40}$/);
  expect(await router.rest.get('/ipv6/route', id)).toMatchObject({ gateway });
  six('del', destination, 'proto', '186', 'metric', '20');
  await eventually(async () => (await known()) === undefined);

  // A running flow follows a blackhole, and the default route again when that is gone.
  const server = '2001:db8:198::10';
  const answers = () => lan6.stdout.match(/bytes from/g)?.length ?? 0;
  const lan6 = router.host('lan').start('ping', '-6', '-n', '-i', '0.1', server);
  await eventually(() => answers() > 5);
  six('add', 'blackhole', `${server}/128`, 'proto', 'static');
  await sleep(500);
  const before = answers();
  await sleep(1000);
  expect(answers()).toBe(before);
  six('del', 'blackhole', `${server}/128`, 'proto', 'static');
  await eventually(() => answers() > before + 5);
  await lan6.end('SIGINT');

  // Of several next hops the first is used; when it goes, the other one stays.
  six('add', destination, 'proto', '186', 'nexthop', 'via', gateway, 'nexthop', 'via', other);
  await eventually(async () => (await known())?.hint !== undefined);
  expect(await known()).toMatchObject({ gateway, hint: expect.stringContaining('only the first') });
  six('del', destination, 'via', gateway);
  await eventually(async () => (await known())?.gateway === other);
  expect((await known())?.hint).toBeUndefined();
  six('del', destination);
  await eventually(async () => (await known()) === undefined);
});

test('a thousand routes at once come and go without one left behind', async () => {
  const lines = Array.from(
    { length: 1000 },
    (_, at) => `100.${64 + (at >> 8)}.${at & 255}.0/24 via 203.0.113.1 proto 188`,
  );
  const batch = (verb: string) =>
    router
      .host('router')
      .must('sh', '-c', `printf '%s\\n' ${lines.map((line) => `'route ${verb} ${line}'`).join(' ')} | ip -batch -`);
  const learned = async () => (await router.rest.list('/ip/route')).filter((row) => row.ospf === 'true').length;
  batch('add');
  await eventually(async () => (await learned()) === 1000);
  expect(router.host('lan').ping(SERVER, 2)).toBe(2);
  batch('del');
  await eventually(async () => (await learned()) === 0);
});

test.runIf(process.env.TOLLWAY_SOAK !== undefined)(
  'a million routes are listed, counted and filtered',
  async () => {
    const count = async (...words: string[]) => {
      const started = performance.now();
      const asked = { 'count-only': '', ...(words.length > 0 && { '.query': words.join(',') }) };
      const answer = await router.rest.command('/ip/route/print', asked);
      return { count: Number((answer as { ret: string }).ret), ms: performance.now() - started };
    };
    const before = (await count()).count;
    const script = `for (i = 0; i < 1000000; i++)
      printf "route %s %d.%d.%d.%d/28 via 203.0.113.1 proto 186\\n", verb, 16 + int(i / 1048576), int(i / 4096) % 256, int(i / 16) % 256, i % 16 * 16`;
    const batch = (verb: string) =>
      router.host('router').must('sh', '-c', `awk -v verb=${verb} 'BEGIN { ${script} }' | ip -batch -`);
    batch('add');
    await eventually(async () => (await count()).count === before + 1_000_000, 180_000);
    expect((await count('bgp=yes')).count).toBe(1_000_000);
    const inside = await count('dst-address in 16.0.0.0/9');
    expect(inside.count).toBe(524_288);
    expect(inside.ms).toBeLessThan(5_000);
    batch('del');
    await eventually(async () => (await count()).count === before, 180_000);
  },
  300_000,
);
