import { afterAll, beforeAll, expect, test } from 'vitest';
import { addBox, addHost, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/**
 * Two routers with a trunk between them: `near` has the host left, `far` the host behind. Frames on the trunk carry one tag
 * or two, and each router checks those that the other writes.
 */

const prefix = `tw${process.pid}v`;
let hosts: Host[] = [];
let left: Host;
let behind: Host;
let near: Router;
let far: Router;

/** Interfaces of either router, from the trunk up, and the network of each. */
const VLANS = [
  { name: 'customer', 'vlan-id': '10', interface: 'ether2', network: '10.99.10' },
  { name: 'service', 'vlan-id': '10', interface: 'ether2', 'use-service-tag': 'yes', network: '10.99.11' },
  { name: 'inner', 'vlan-id': '20', interface: 'service', network: '10.99.12' },
] as const;

async function configure(router: Router, own: number, peer: number, hostNet: string, peerNet: string): Promise<void> {
  await router.rest.add('/ip/address', { address: `${hostNet}.1/24`, interface: 'ether1' });
  await router.rest.add('/ip/address', { address: `10.99.0.${own}/24`, interface: 'ether2' });
  for (const { network, ...vlan } of VLANS) {
    await router.rest.add('/interface/vlan', vlan);
    await router.rest.add('/ip/address', { address: `${network}.${own}/24`, interface: vlan.name });
  }
  await router.rest.add('/ip/route', { 'dst-address': `${peerNet}.0/24`, gateway: `10.99.10.${peer}` });
  await router.rest.add('/ip/firewall/filter', { chain: 'forward', action: 'passthrough' });
}

beforeAll(async () => {
  const { box, left: first, right } = addBox(prefix);
  const [other, last] = [addHost(`${prefix}-far`), addHost(`${prefix}-behind`)];
  hosts = [box, first, right, other, last];
  [left, behind] = [first, last];
  link(box, 'trunk0', other, 'trunk0');
  link(other, 'eth1', last, 'eth0');
  last.must('ip', 'address', 'add', '10.10.3.2/24', 'dev', 'eth0');
  last.must('ip', 'route', 'add', 'default', 'via', '10.10.3.1');
  const start = (inside: Host) => newRouter({ inside, options: ['--ports', 'eth1,trunk0', '--no-defaults'] }).up();
  near = await start(box);
  far = await start(other);
  await configure(near, 1, 2, '10.10.1', '10.10.3');
  await configure(far, 2, 1, '10.10.3', '10.10.1');
});
afterAll(async () => {
  await dispose(near);
  await dispose(far);
  for (const host of hosts) removeHost(host);
});

/** The row of an interface. */
async function rowOf(router: Router, name: string) {
  const row = (await router.rest.list('/interface')).find((each) => each.name === name);
  if (row === undefined) throw new Error(`there is no ${name}`);
  return row;
}

const counted = async (router: Router, name: string) => {
  const row = await rowOf(router, name);
  return { rx: Number(row['rx-packet']), tx: Number(row['tx-packet']), fast: Number(row['fp-rx-packet']) };
};

test('each VLAN is running, and its neighbour answers ARP and pings with the tags of that VLAN alone', async () => {
  const service = near.host('router');
  for (const { name, network } of VLANS) {
    await eventually(async () => (await rowOf(near, name)).running === 'true');
    const others = await Promise.all(
      VLANS.filter((vlan) => vlan.name !== name).map(
        async (vlan) => [vlan.name, await counted(near, vlan.name)] as const,
      ),
    );
    expect(service.ping(`${network}.2`, 3), name).toBe(3);
    expect((await counted(near, name)).rx).toBeGreaterThanOrEqual(3);
    for (const [other, before] of others) {
      // What is inside the service VLAN passes that, too.
      if (name === 'inner' && other === 'service') continue;
      expect((await counted(near, other)).rx - before.rx, `${other} beside ${name}`).toBeLessThan(3);
    }
    const [neighbour] = (await near.rest.list('/ip/arp')).filter(({ address }) => address === `${network}.2`);
    expect(neighbour).toMatchObject({ interface: name });
  }
  expect(service.ping('10.99.0.2', 3)).toBe(3);
});

test('what two tags take of the room is missing in the MTU, and large packets arrive in fragments', async () => {
  const mtu = async (name: string) => (await rowOf(near, name))['actual-mtu'];
  expect([await mtu('customer'), await mtu('service'), await mtu('inner')]).toEqual(['1500', '1496', '1492']);
  const service = near.host('router');
  for (const { network } of VLANS) {
    expect(service.run('ping', '-n', '-c', '3', '-W', '5', '-s', '4000', `${network}.2`).stdout).toContain(
      ' 3 received',
    );
  }
});

test('hosts behind the routers reach each other through a VLAN, by ping and a stream of TCP on the fast path', async () => {
  expect(left.ping('10.10.3.2', 3)).toBe(3);
  expect(left.run('ping', '-n', '-c', '2', '-W', '5', '-M', 'do', '-s', '1472', '10.10.3.2').stdout).toContain(
    ' 2 received',
  );
  const before = await counted(far, 'customer');
  const sink = behind.script(`
    import { createServer } from 'node:net';
    let bytes = 0;
    createServer((socket) => socket.on('data', (data) => { bytes += data.length; }).on('end', () => {
      console.log('got ' + bytes);
      socket.end();
    })).listen(5001, '0.0.0.0', () => console.log('ready'));`);
  await eventually(() => sink.stdout.includes('ready'));
  const BYTES = 50_000_000;
  const source = left.script(`
    import { connect } from 'node:net';
    const socket = connect(5001, '10.10.3.2', () => {
      const chunk = Buffer.alloc(100_000, 7);
      let left = ${BYTES} / chunk.length;
      const more = () => { while (left-- > 0) if (!socket.write(chunk)) return socket.once('drain', more); socket.end(); };
      more();
    });
    socket.on('close', () => console.log('closed')).resume();`);
  await eventually(() => sink.stdout.includes('got '), 60_000);
  expect(sink.stdout).toContain(`got ${BYTES}`);
  await Promise.all([source.end(), sink.end()]);
  const after = await counted(far, 'customer');
  expect(after.rx - before.rx).toBeGreaterThanOrEqual(BYTES / 1460);
  expect(after.fast - before.fast).toBeGreaterThan((after.rx - before.rx) * 0.9);
});

test('frames of a VLAN that one side does not have are dropped as such, and come again with it', async () => {
  const id = (await rowOf(far, 'customer'))['.id'] ?? '';
  await far.rest.set('/interface/vlan', id, { 'vlan-id': '11' });
  expect(left.ping('10.10.3.2', 2)).toBe(0);
  await far.rest.set('/interface/vlan', id, { 'vlan-id': '10' });
  await eventually(() => left.ping('10.10.3.2', 1) === 1);
  await near.rest.set('/interface', (await rowOf(near, 'ether2'))['.id'] ?? '', { disabled: 'yes' });
  await eventually(async () => (await rowOf(near, 'inner')).running === 'false');
  expect(left.ping('10.10.3.2', 1)).toBe(0);
  await near.rest.set('/interface', (await rowOf(near, 'ether2'))['.id'] ?? '', { disabled: 'no' });
  await eventually(() => left.ping('10.10.3.2', 1) === 1);
});

test('a tree of queues below a port holds what leaves by its VLANs, and a VLAN with a tree has that one', async () => {
  const tree = (parent: string) => near.rest.add('/queue/tree', { name: `below-${parent}`, parent });
  const passed = async () => {
    const before = await near.rest.list('/queue/tree');
    expect(left.ping('10.10.3.2', 5)).toBe(5);
    const after = await near.rest.list('/queue/tree');
    return after.map(({ packets }, at) => Number(packets) - Number(before[at]?.packets));
  };
  await tree('ether2');
  await eventually(async () => {
    const [port] = await passed();
    return port !== undefined && port >= 5;
  });
  await tree('customer');
  await eventually(async () => {
    const [port, vlan] = await passed();
    return port !== undefined && vlan !== undefined && vlan >= 5 && port < 5;
  });
  for (const row of await near.rest.list('/queue/tree')) await near.rest.remove('/queue/tree', row['.id'] ?? '');
});
