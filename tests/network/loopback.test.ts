import { afterAll, beforeAll, expect, test } from 'vitest';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually } from './wait.ts';

/** Addresses of a loopback interface, with real clients. */
const [FOUR, SIX] = ['192.0.2.1', '2001:db8:1d::1'];

let router: Router;
let loopback: string;

beforeAll(async () => {
  router = await newRouter().up();
  loopback = await router.rest.add('/interface/loopback', {});
  await router.rest.add('/ip/address', { address: `${FOUR}/32`, interface: 'loopback1' });
  await router.rest.add('/ipv6/address', { address: `${SIX}/128`, interface: 'loopback1' });
});
afterAll(() => dispose(router));

test('hosts reach them by each link, and services of the router listen on them', async () => {
  const lan = router.host('lan');
  expect(lan.ping(FOUR, 3)).toBe(3);
  await eventually(() => lan.ping(SIX, 1) === 1);
  expect(router.host('lan2').ping(FOUR, 3)).toBe(3);
  expect((await router.rest.get('/interface/loopback', loopback)).running).toBe('true');
  const service = router.host('router').script(`
    import { createServer } from 'node:net';
    for (const own of ['${FOUR}', '${SIX}']) {
      createServer((socket) => socket.end(socket.localAddress)).listen(7002, own, () => console.log('ready ' + own));
    }`);
  await eventually(() => service.stdout.includes(FOUR) && service.stdout.includes(SIX));
  for (const own of [FOUR, SIX]) {
    const asked = lan.script(`
      import { connect } from 'node:net';
      connect(7002, '${own}').on('data', (data) => console.log('answered by ' + data));`);
    await eventually(() => asked.stdout.includes(`answered by ${own}`));
    await asked.end();
  }
  await service.end();
});

test('a route has one as the source of what the router sends', async () => {
  const inside = router.host('router');
  const route = await router.rest.add('/ip/route', {
    'dst-address': `${SERVER}/32`,
    gateway: '203.0.113.1',
    'pref-src': FOUR,
  });
  await eventually(() => inside.run('ip', 'route', 'get', SERVER).stdout.includes(`src ${FOUR}`));
  await router.rest.remove('/ip/route', route);
});

test('a disabled one has no addresses', async () => {
  await router.rest.set('/interface/loopback', loopback, { disabled: 'yes' });
  expect(router.host('lan').ping(FOUR, 2)).toBe(0);
  await router.rest.set('/interface/loopback', loopback, { disabled: 'no' });
  await eventually(() => router.host('lan').ping(FOUR, 1) === 1);
});
