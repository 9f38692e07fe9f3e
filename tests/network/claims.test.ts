import { renameSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addHost, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** Claimed interfaces whose surroundings change meanwhile: what was noted of them, what they are part of, their routes. */

const prefix = `tw${process.pid}`;
let box: Host;
let left: Host;
let right: Host;
let router: Router | undefined;

beforeAll(() => {
  box = addHost(`${prefix}-box`);
  left = addHost(`${prefix}-left`);
  right = addHost(`${prefix}-right`);
  link(box, 'eth1', left, 'eth0');
  link(box, 'eth2', right, 'eth0');
  link(box, 'eth3', right, 'eth3');
  left.must('ip', 'address', 'add', '10.10.1.2/24', 'dev', 'eth0');
  left.must('ip', 'route', 'add', 'default', 'via', '10.10.1.1');
  right.must('ip', 'address', 'add', '10.10.2.2/24', 'dev', 'eth0');
  right.must('ip', 'route', 'add', 'default', 'via', '10.10.2.1');
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

/** Netdevs that the kernel is kept from. */
const guarded = () =>
  [...box.must('nft', 'list', 'ruleset').matchAll(/hook ingress device "(\w+)"/g)].map(([, of]) => of).sort();
const addressesOf = (name: string) =>
  box.must('ip', '-brief', '-4', 'address', 'show', 'dev', name).trim().split(/\s+/).slice(2);

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
