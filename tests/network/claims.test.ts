import { renameSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addBox, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** Claimed interfaces whose surroundings change meanwhile: what was noted of them, what they are part of, their routes. */

const prefix = `tw${process.pid}`;
let box: Host;
let left: Host;
let right: Host;
let router: Router | undefined;

beforeAll(() => {
  ({ box, left, right } = addBox(prefix));
  link(box, 'eth3', right, 'eth3');
});
afterEach(async () => {
  await dispose(router);
  router = undefined;
  for (const name of ['eth1', 'eth2', 'eth3']) {
    box.must('ip', 'link', 'set', name, 'up');
    box.must('ip', 'address', 'flush', 'dev', name);
  }
});
afterAll(() => {
  for (const host of [box, left, right]) removeHost(host);
});

async function start(ports = 'eth1,eth2', dataDir?: string): Promise<Router> {
  const options = ['--ports', ports, '--no-defaults'];
  router = await newRouter({ inside: box, options, ...(dataDir !== undefined && { dataDir }) }).up();
  return router;
}

/** Addresses for the first two ports; left and right then reach each other through the router. */
async function addAddresses(of: Router): Promise<void> {
  await of.rest.add('/ip/address', { address: '10.10.1.1/24', interface: 'ether1' });
  await of.rest.add('/ip/address', { address: '10.10.2.1/24', interface: 'ether2' });
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
}

/** Netdevs that the kernel is kept from. */
const guarded = () =>
  [...box.must('nft', 'list', 'ruleset').matchAll(/hook ingress device "(\w+)"/g)].map(([, of]) => of).sort();
const addressesOf = (name: string) =>
  box.must('ip', '-brief', '-4', 'address', 'show', 'dev', name).trim().split(/\s+/).slice(2);
const logged = async (of: Router, begin: string) =>
  (await of.rest.list('/log')).filter(({ message }) => message?.startsWith(begin)).length;

test('ports are kept from the kernel, and given back, though the data folder is gone', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth1');
  const it = await start();
  const moved = `${it.dataDir}.moved`;
  renameSync(it.dataDir, moved);
  try {
    box.must('nft', 'flush', 'ruleset');
    await eventually(() => guarded().length === 2);
    await it.stop();
    expect(addressesOf('eth1'), it.process.stderr).toEqual(['10.99.0.1/24']);
    expect(box.must('nft', 'list', 'ruleset')).toBe('');
  } finally {
    rmSync(moved, { recursive: true, force: true });
  }
});

test('an agent that is started again goes on with a port that has become part of a bridge', async () => {
  const it = await start();
  await addAddresses(it);
  box.must('ip', 'link', 'add', 'br0', 'type', 'bridge');
  try {
    box.must('ip', 'link', 'set', 'eth2', 'master', 'br0');
    const agent = it.pid('agent');
    process.kill(agent, 'SIGKILL');
    await eventually(() => it.pid('agent') !== agent && left.ping('10.10.2.2', 1) === 1);
    expect(guarded()).toEqual(['eth1', 'eth2']);
    expect(await it.stop()).toBe(0);
    expect(it.process.stderr).toBe('');
  } finally {
    box.must('ip', 'link', 'delete', 'br0');
  }
});

test('an agent that is started again goes on without a port whose name is taken, until it can have it', async () => {
  const it = await start();
  await addAddresses(it);
  const agent = it.pid('agent');
  // Renamed back at once, if it could be seen.
  process.kill(agent, 'SIGSTOP');
  box.must('ip', 'link', 'set', 'eth2', 'down');
  box.must('ip', 'link', 'set', 'eth2', 'name', 'wan0');
  box.must('ip', 'link', 'property', 'add', 'dev', 'eth3', 'altname', 'eth2');
  try {
    process.kill(agent, 'SIGKILL');
    await eventually(() => it.pid('agent') !== agent && left.ping('10.10.1.1', 1) === 1);
    await eventually(() => it.healthy());
    await eventually(async () => (await logged(it, 'ether2 (eth2) cannot keep its name')) === 1);
    const next = it.pid('agent');
    // Word of a change has it try again, which is not reported again.
    for (const state of ['down', 'up']) box.must('ip', 'link', 'set', 'eth3', state);
    box.must('ip', 'link', 'property', 'del', 'dev', 'eth3', 'altname', 'eth2');
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    expect(await logged(it, 'ether2 (eth2) cannot keep its name')).toBe(1);
    expect(it.pid('agent')).toBe(next);
    expect(await it.stop()).toBe(0);
  } finally {
    box.run('ip', 'link', 'property', 'del', 'dev', 'eth3', 'altname', 'eth2');
    box.run('ip', 'link', 'set', 'wan0', 'name', 'eth2');
  }
});

const LOST = 'was given back, but not its route 10.98.0.0/16 via 10.99.1.9: ';

/** An address for each of two ports, and for the first a route by a gateway, which the kernel refuses once it is down. */
function addRoute(first: string, second: string): void {
  box.must('ip', 'address', 'add', '10.99.1.1/24', 'dev', first);
  box.must('ip', 'address', 'add', '10.99.2.1/24', 'dev', second);
  box.must('ip', 'route', 'add', '10.98.0.0/16', 'via', '10.99.1.9', 'dev', first);
}

test('a stop says which route of which port could not be given back', async () => {
  addRoute('eth1', 'eth2');
  const it = await start();
  box.must('ip', 'link', 'set', 'eth1', 'down');
  await it.stop();
  expect(it.process.stderr).toContain(`eth1 ${LOST}`);
  expect([addressesOf('eth1'), addressesOf('eth2')]).toEqual([['10.99.1.1/24'], ['10.99.2.1/24']]);
});

test('a route that cannot be given back keeps no other port of a killed run from being given back', async () => {
  addRoute('eth1', 'eth2');
  const killed = await start();
  await killed.crash();
  box.must('ip', 'link', 'set', 'eth1', 'down');
  const other = newRouter({ inside: box, options: ['--no-lab', '--no-defaults'] });
  try {
    await other.up();
    expect(other.process.stderr).toContain(`eth1 ${LOST}`);
    expect([addressesOf('eth1'), addressesOf('eth2')]).toEqual([['10.99.1.1/24'], ['10.99.2.1/24']]);
    expect(box.must('nft', 'list', 'ruleset')).toBe('');
  } finally {
    await dispose(other);
  }
});

test('a route that cannot be given back keeps no router from starting with other ports', async () => {
  addRoute('eth2', 'eth1');
  const killed = await start();
  await killed.crash();
  box.must('ip', 'link', 'set', 'eth2', 'down');
  const it = await start('eth1,eth3', killed.dataDir);
  await eventually(async () => (await logged(it, `eth2 ${LOST}`)) === 1);
  expect([addressesOf('eth2'), guarded()]).toEqual([['10.99.1.1/24'], ['eth1', 'eth3']]);
  expect(await it.stop()).toBe(0);
  expect(it.process.stderr).toBe('');
  expect([addressesOf('eth1'), guarded()]).toEqual([['10.99.2.1/24'], []]);
});
