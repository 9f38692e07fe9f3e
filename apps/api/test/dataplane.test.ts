import { menuByPath } from '@tollway/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, type Message } from './live-client.js';
import { RealAgent } from './real-agent.js';
import { Router } from './router.js';

/** The API with the real agent on memory ports: its generator sends frames through the engine. */

let router: Router;
let agent: RealAgent;
beforeAll(async () => {
  router = await Router.start({ defaults: 'lab' }, false);
  agent = new RealAgent(router.socket, router.directory);
  agent.start();
  await router.healthy(60_000);
}, 600_000);
afterAll(async () => {
  await agent.stop();
  await router.close();
});

const SLOW = { timeout: 90_000, interval: 200 };
const get = async (path: string) => (await router.rest('GET', path)).item;
const list = async (path: string) => (await router.rest('GET', path)).rows;

describe('what moves', () => {
  it('interfaces run and count', async () => {
    await expect.poll(async () => Number((await get('/interface/ether1'))['rx-packet']), SLOW).toBeGreaterThan(20);
    const row = await get('/interface/ether1');
    expect(row).toMatchObject({ running: 'true', type: 'ether', 'actual-mtu': '1500' });
    expect(row['mac-address']).toMatch(/^[0-9A-F:]{17}$/);
    await expect
      .poll(async () => Number((await get('/interface/ether2'))['rx-bits-per-second']), SLOW)
      .toBeGreaterThan(0);
  });

  it('rules, connections, routes and neighbours are those of the traffic', async () => {
    const accepted = async () =>
      (await list('/ip/firewall/filter?chain=forward&action=accept')).reduce(
        (sum, row) => sum + Number(row.packets),
        0,
      );
    await expect.poll(accepted, SLOW).toBeGreaterThan(0);
    await expect.poll(async () => (await list('/ip/firewall/connection?srcnat=yes')).length, SLOW).toBeGreaterThan(0);
    const [connection] = await list('/ip/firewall/connection?srcnat=yes&protocol=udp');
    expect(connection).toMatchObject({ srcnat: 'true', confirmed: 'true' });
    expect(connection?.['src-address']).toMatch(/^192\.168\.88\.\d+:\d+$/);
    expect(connection?.['reply-dst-address']).toMatch(/^203\.0\.113\.2:\d+$/);
    const connected = await list('/ip/route?connect=yes');
    expect(connected.map((row) => row['dst-address']).sort()).toEqual(['192.168.88.0/24', '203.0.113.0/24']);
    const [dynamic] = connected;
    const refused = await router.rest('DELETE', `/ip/route/${dynamic?.['.id']}`);
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.error.detail).toMatch(/^failure: .*dynamic/);
    expect(await list('/ip/route?static=yes')).toMatchObject([
      { active: 'true', 'immediate-gw': '203.0.113.1%ether1' },
    ]);
    const learned = await list('/ip/arp?dynamic=yes&complete=yes');
    expect(learned.length).toBeGreaterThan(0);
    expect(learned[0]?.['mac-address']).toMatch(/^[0-9A-F:]{17}$/);
    const tracking = await get('/ip/firewall/connection/tracking');
    expect(Number(tracking['total-entries'])).toBeGreaterThan(0);
  });

  it('counters start anew after a reset', async () => {
    const busy = async () => (await list('/ip/firewall/filter?dynamic=no')).find((row) => Number(row.packets) > 50);
    await expect.poll(busy, SLOW).toBeDefined();
    const rule = (await busy()) ?? {};
    const reset = await router.rest('POST', '/ip/firewall/filter/reset-counters', { numbers: rule['.id'] });
    expect(reset).toMatchObject({ status: 200, body: [] });
    expect(Number((await get(`/ip/firewall/filter/${rule['.id']}`)).packets)).toBeLessThan(Number(rule.packets));
    expect((await router.rest('POST', '/ip/firewall/nat/reset-counters-all')).status).toBe(200);
    expect((await router.rest('POST', '/interface/reset-counters', { numbers: 'ether1' })).status).toBe(200);
  });

  it('queues count what passes them, and start anew after a reset', async () => {
    const queue = { name: 'lan', target: '192.168.88.0/24', 'max-limit': '10G' };
    expect((await router.rest('PUT', '/queue/simple', queue)).status).toBe(201);
    const halves = async (property: string) => (await get('/queue/simple/lan'))[property]?.split('/').map(Number) ?? [];
    await expect.poll(async () => Math.min(...(await halves('packets'))), SLOW).toBeGreaterThan(20);
    await expect.poll(async () => Math.min(...(await halves('rate'))), SLOW).toBeGreaterThan(0);
    const [before = 0] = await halves('bytes');
    await router.rest('POST', '/queue/simple/reset-counters', { numbers: 'lan' });
    expect((await halves('bytes'))[0]).toBeLessThan(before);
    await router.rest('DELETE', '/queue/simple/lan');
  });

  it('rules of mangle count, and connections show their marks', async () => {
    const mangle = { chain: 'forward', 'in-interface': 'ether2', action: 'mark-connection' };
    const { id } = await router.rest('PUT', '/ip/firewall/mangle', { ...mangle, 'new-connection-mark': 'lan' });
    await expect.poll(async () => Number((await get(`/ip/firewall/mangle/${id}`)).packets), SLOW).toBeGreaterThan(20);
    const marked = async () => (await list('/ip/firewall/connection?connection-mark=lan')).length;
    await expect.poll(marked, SLOW).toBeGreaterThan(0);
    expect((await router.rest('DELETE', `/ip/firewall/mangle/${id}`)).status).toBe(204);
  });

  it('queues of every kind let packets pass, and are watched by the millisecond', async () => {
    const put = async (path: string, body: Record<string, string>) =>
      expect(await router.rest('PUT', path, body)).toMatchObject({ status: 201 });
    await put('/queue/simple', { name: 'lan', target: '192.168.88.0/24', 'max-limit': '10G' });
    const packets = async () => Number((await get('/queue/simple/lan')).packets?.split('/')[0]);
    const kinds = menuByPath('/queue/type')?.props.kind?.kind.values ?? [];
    expect(kinds).toContain('cake');
    for (const kind of kinds) {
      await put('/queue/type', { name: `my-${kind}`, kind });
      expect(await router.rest('PATCH', '/queue/simple/lan', { queue: `my-${kind}` })).toMatchObject({ status: 200 });
      const before = await packets();
      await expect.poll(packets, SLOW).toBeGreaterThan(before);
    }
    const client = await Client.open(router.url);
    try {
      client.send({ op: 'subscribe', id: 1, topic: 'token-bucket', menu: '/queue/simple', queue: 'lan' });
      const carried = ({ op, slots }: Message) =>
        op === 'token-bucket' && Array.isArray(slots) && slots.some(({ upload }) => upload.bytes > 0);
      await client.next(carried, SLOW.timeout);
    } finally {
      client.socket.close();
    }
    expect((await router.rest('DELETE', '/queue/simple/lan')).status).toBe(204);
  });

  it('the rule that shows fasttrack counters stands above all others', async () => {
    const top = async () => (await list('/ip/firewall/filter'))[0];
    await expect.poll(async () => (await top())?.dynamic, SLOW).toBe('true');
    const { packets } = (await top()) ?? {};
    await expect.poll(async () => Number((await top())?.packets), SLOW).toBeGreaterThan(Number(packets));
  });

  it('a connection can be removed, once', async () => {
    const [connection] = await list('/ip/firewall/connection?protocol=icmp');
    const id = connection?.['.id'];
    expect((await router.rest('DELETE', `/ip/firewall/connection/${id}`)).status).toBe(204);
    expect((await router.rest('DELETE', `/ip/firewall/connection/${id}`)).status).toBe(404);
    expect((await router.rest('DELETE', '/ip/firewall/connection/nonsense')).status).toBe(404);
  });

  it('the classes of the profile add up to all of each core', async () => {
    const { status, rows: body } = await router.rest('POST', '/tool/profile', { cpu: 'all', duration: '1s' });
    expect(status).toBe(200);
    const sums = new Map<string, number>();
    for (const row of body) sums.set(row.cpu ?? '', (sums.get(row.cpu ?? '') ?? 0) + Number(row.usage));
    expect(sums.size).toBeGreaterThan(0);
    for (const sum of sums.values()) expect(sum).toBeCloseTo(100, 5);
    expect(body.map((row) => row.name)).toContain('idle');
    expect((await router.rest('POST', '/tool/profile', { cpu: 'x' })).body).toMatchObject({
      error: 400,
      property: 'cpu',
    });
    expect((await router.rest('POST', '/tool/profile', { duration: '5h' })).body).toMatchObject({
      property: 'duration',
    });
  });

  it('monitor-traffic answers once, or by sections for a while', async () => {
    const monitor = async (body: object) => router.rest('POST', '/interface/monitor-traffic', body);
    const once = (await monitor({ interface: 'ether1,ether1', once: '' })).rows;
    expect(once).toHaveLength(1);
    expect(once[0]).not.toHaveProperty('.section');
    for (const what of ['drops', 'errors']) {
      for (const way of ['rx', 'tx']) expect(once[0]).toHaveProperty(`${way}-${what}-per-second`);
    }
    // The router's own packets, as ARP, are among those sent, and no more than those.
    const [ether2] = await list('/interface?name=ether2');
    expect(Number(ether2?.['own-tx-packet'])).toBeGreaterThan(0);
    expect(Number(ether2?.['own-tx-packet'])).toBeLessThan(Number(ether2?.['tx-packet']));
    const sections = (await monitor({ interface: 'ether1,aggregate', duration: '2s' })).rows;
    expect(sections.map((row) => row['.section'])).toEqual(['0', '0', '1', '1']);
    expect((await monitor({ interface: 'ether9', once: '' })).body).toMatchObject({ property: 'interface' });
    expect((await monitor({ interface: 'ether1,', once: '' })).body).toMatchObject({
      property: 'interface',
      detail: expect.stringContaining(
        'value of interface: a name is missing after the comma; give names of interfaces',
      ),
    });
  });

  it('the links of ports are up, and that of a disabled one is not', async () => {
    const statuses = async () => {
      const monitor = await router.rest('POST', '/interface/ethernet/monitor', { numbers: 'ether1,ether2', once: '' });
      return monitor.rows.map(({ name, status }) => `${name} ${status}`);
    };
    await expect.poll(statuses, SLOW).toEqual(['ether1 link-ok', 'ether2 link-ok']);
    expect((await router.rest('PATCH', '/interface/ether2', { disabled: 'yes' })).status).toBe(200);
    await expect.poll(statuses, SLOW).toEqual(['ether1 link-ok', 'ether2 no-link']);
    expect((await router.rest('PATCH', '/interface/ether2', { disabled: 'no' })).status).toBe(200);
    await expect.poll(statuses, SLOW).toEqual(['ether1 link-ok', 'ether2 link-ok']);
  });
});

describe('the configuration and the agent', () => {
  it('what the engine cannot do is refused with the row, and nothing is stored', async () => {
    const before = (await list('/ip/firewall/filter')).length;
    const wrong = await router.rest('PUT', '/ip/firewall/filter', { chain: 'forward', action: 'masquerade' });
    expect(wrong.status).toBe(400);
    expect(await list('/ip/firewall/filter')).toHaveLength(before);
  });

  it('an agent that was killed is back with the configuration it ran', async () => {
    const added = await router.rest('PUT', '/ip/firewall/filter', {
      chain: 'forward',
      action: 'passthrough',
      comment: 'kept',
    });
    expect(added.status).toBe(201);
    const { revision } = (await router.request('GET', '/healthz')).item;
    await agent.stop('SIGKILL');
    await expect.poll(async () => (await router.request('GET', '/healthz')).status, SLOW).toBe(503);
    expect(await get('/interface/ether1')).not.toHaveProperty('running');
    agent.start();
    await router.healthy(30_000);
    expect((await router.request('GET', '/healthz')).body).toMatchObject({ revision, agent: 'synced' });
    await expect.poll(async () => Number((await get('/interface/ether1'))['rx-packet']), SLOW).toBeGreaterThan(0);
  });
});
