import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addBox, type Host, link, removeHost } from './netns.ts';
import { dispose, newDataDir, newRouter, type Router } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** Real interfaces of the namespace that the command runs in: claimed, watched, given back. */

const prefix = `tw${process.pid}`;
let box: Host;
let left: Host;
let right: Host;
let router: Router | undefined;

beforeAll(() => {
  ({ box, left, right } = addBox(prefix));
});
afterEach(async () => {
  await dispose(router);
  router = undefined;
});
afterAll(() => {
  for (const host of [box, left, right]) removeHost(host);
});

async function start(...options: string[]): Promise<Router> {
  router = await newRouter({ inside: box, options: ['--ports', 'eth1,eth2', '--no-defaults', ...options] }).up();
  return router;
}

/** Addresses for both ports; left and right then reach each other through the router. */
async function addAddresses(of: Router): Promise<void> {
  await of.rest.add('/ip/address', { address: '10.10.1.1/24', interface: 'ether1' });
  await of.rest.add('/ip/address', { address: '10.10.2.1/24', interface: 'ether2' });
}

const interfaceRow = async (of: Router, name: string) =>
  (await of.rest.list('/interface')).find((row) => row.name === name);

/** Watches whether claimed interfaces come into the kernel's hands: addresses for them, or nothing that keeps it from them. */
async function watchKernel() {
  const addresses = box.start('ip', '-4', 'monitor', 'address');
  const table = box.start('nft', 'monitor', 'destroy', 'tables');
  await sleep(500);
  return {
    got: async () => {
      await Promise.all([addresses.end(), table.end()]);
      return addresses.stdout + table.stdout;
    },
  };
}

test('an empty configuration forwards nothing; with two addresses it routes', async () => {
  const it = await start();
  const log = await it.rest.list('/log');
  expect(log.filter(({ message }) => message === 'ether1 link up')).toHaveLength(1);
  expect(log.map(({ time }) => time)).toEqual(log.map(({ time }) => time).sort());
  expect(await it.rest.list('/ip/address')).toEqual([]);
  expect(await it.rest.list('/ip/firewall/filter')).toEqual([]);
  expect(left.ping('10.10.2.2', 3)).toBe(0);
  await addAddresses(it);
  await eventually(() => left.ping('10.10.2.2', 3) === 3);
  // One probe at a time: of a burst, the destination's kernel answers only as many as its ICMP limit lets it.
  expect(left.must('traceroute', '-n', '-q', '1', '-N', '1', '-w', '3', '10.10.2.2')).toMatch(
    /1 {2}10\.10\.1\.1 [\s\S]*2 {2}10\.10\.2\.2 /,
  );
});

test('releasing gives a port back as it was', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth1');
  const sysctl = () => box.must('sysctl', '-n', 'net.ipv6.conf.eth1.disable_ipv6');
  const addresses = () =>
    JSON.stringify(
      JSON.parse(box.must('ip', '-json', 'address', 'show', 'dev', 'eth1'))[0].addr_info.map(
        (address: { local: string; prefixlen: number }) => `${address.local}/${address.prefixlen}`,
      ),
    );
  const before = [addresses(), sysctl(), box.must('nft', 'list', 'ruleset'), box.must('ip', 'route')];
  expect(before[0]).toBe('["10.99.0.1/24"]');
  const it = await start();
  expect(addresses()).toBe('[]');
  expect(await it.stop()).toBe(0);
  expect([addresses(), sysctl(), box.must('nft', 'list', 'ruleset'), box.must('ip', 'route')]).toEqual(before);
  box.must('ip', 'address', 'flush', 'dev', 'eth1');
});

test.each(['af-packet', 'af-xdp'])(
  'with %s the network device carries what its interface may send, and no less afterwards',
  async (io) => {
    const mtu = () => JSON.parse(box.must('ip', '-json', 'link', 'show', 'eth1'))[0].mtu;
    const ping = (length: number) =>
      left.run('ping', '-n', '-c', '3', '-i', '0.2', '-W', '1', '-M', 'do', '-s', String(length - 28), '10.10.2.2')
        .stdout;
    for (const host of [left, right]) host.must('ip', 'link', 'set', 'eth0', 'mtu', '9000');
    const it = await start();
    await addAddresses(it);
    const rows = await it.rest.list('/interface/ethernet');
    const set = async (values: Record<string, string>) => {
      for (const row of rows) await it.rest.set('/interface/ethernet', row['.id'] ?? '', values);
    };
    await set({ io });
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    expect(mtu()).toBe(1500);
    await set({ mtu: '9000' });
    await eventually(() => ping(9000).includes(' 3 received'));
    expect(mtu()).toBe(9000);
    const [row] = await it.rest.list('/interface/ethernet');
    expect(row?.['io-backend']).toBe('af-packet');
    expect(row?.['io-reason']).toMatch(io === 'af-xdp' ? /its MTU of 9000 is beyond/ : /^chosen in the configuration/);
    await set({ mtu: '1400' });
    await eventually(() => mtu() === 1500);
    expect(ping(1401)).toMatch(/mtu ?= ?1400/);
    await eventually(async () => (await it.rest.list('/interface/ethernet'))[0]?.['io-backend'] === io);
    left.must('ip', 'route', 'flush', 'cache');
    await set({ mtu: '2000' });
    await eventually(() => ping(2000).includes(' 3 received'));
    expect(await it.stop()).toBe(0);
    expect(mtu()).toBe(1500);
    for (const host of [left, right]) host.must('ip', 'link', 'set', 'eth0', 'mtu', '1500');
  },
);

test('what a kill -9 of everything leaves, the next start gives back', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth1');
  const first = await start();
  await first.crash();
  const second = newRouter({ inside: box, options: ['--ports', 'eth1,eth2', '--no-defaults'], dataDir: first.dataDir });
  const kernel = await watchKernel();
  await second.up();
  expect(await kernel.got()).toBe('');
  expect(await second.stop()).toBe(0);
  expect(box.must('ip', '-brief', 'address', 'show', 'dev', 'eth1')).toContain('10.99.0.1/24');
  expect(box.must('nft', 'list', 'ruleset')).toBe('');
  box.must('ip', 'address', 'flush', 'dev', 'eth1');
});

test('a killed run’s ports are given back by a start with another data folder too', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth1');
  const first = await start();
  await first.crash();
  expect(box.must('ip', '-brief', 'address', 'show', 'dev', 'eth1')).not.toContain('10.99.0.1/24');
  const other = newRouter({ inside: box, options: ['--no-lab', '--no-defaults'] });
  try {
    await other.up();
    const said = other.process.stdout + other.process.stderr;
    expect(said).toContain('the kernel gets back what it had claimed: eth1, eth2');
    expect(box.must('ip', '-brief', 'address', 'show', 'dev', 'eth1'), said).toContain('10.99.0.1/24');
    expect(box.must('nft', 'list', 'ruleset'), said).toBe('');
  } finally {
    await dispose(other);
    box.must('ip', 'address', 'flush', 'dev', 'eth1');
  }
});

test('a port that cannot be claimed again keeps neither the others from forwarding nor gives the kernel any', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth2');
  // A driver that does not take its device up, as that of a VLAN while the device below it is down.
  const folder = newDataDir();
  const isDown = path.join(folder, 'down');
  const ip = box.must('sh', '-c', 'command -v ip').trim();
  const refusal = `if [ -e ${isDown} ] && [ "$*" = "link set dev eth2 up" ]; then echo "Network is down" >&2; exit 2; fi`;
  writeFileSync(path.join(folder, 'ip'), `#!/bin/sh\n${refusal}\nexec ${ip} "$@"\n`, { mode: 0o755 });
  try {
    const options = ['--ports', 'eth1,eth2', '--no-defaults'];
    const as = ['env', `PATH=${folder}:${process.env.PATH}`];
    const it = await newRouter({ inside: box, options, as }).up();
    router = it;
    await addAddresses(it);
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    const kernel = await watchKernel();
    const agent = it.pid('agent');
    writeFileSync(isDown, '');
    process.kill(agent, 'SIGKILL');
    await eventually(() => left.ping('10.10.1.1', 1) === 1);
    expect(await kernel.got()).toBe('');
    expect(box.must('nft', 'list', 'ruleset')).toContain('hook ingress device "eth2"');
    const next = it.pid('agent');
    expect(next).not.toBe(agent);
    await eventually(() => it.healthy());
    const said = async () =>
      (await it.rest.list('/log')).filter(({ message }) => message?.startsWith('ether2 (eth2) cannot be opened'));
    await eventually(async () => (await said()).length === 1);
    rmSync(isDown);
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    expect([it.pid('agent'), (await said()).length]).toEqual([next, 1]);
    expect(await it.stop()).toBe(0);
    expect(box.must('nft', 'list', 'ruleset')).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
    box.must('ip', 'address', 'flush', 'dev', 'eth2');
  }
});

test('what was noted of ports before a power cut says nothing of them afterwards', async () => {
  const addressesOf = (name: string) =>
    box.must('ip', '-brief', '-4', 'address', 'show', 'dev', name).trim().split(/\s+/).slice(2);
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth1');
  box.must('ip', 'link', 'set', 'eth1', 'down');
  try {
    const first = await start();
    await first.crash();
    const claims = path.join(first.dataDir, 'agent/claims');
    expect(readdirSync(claims).sort()).toEqual(['eth1', 'eth2']);
    for (const name of readdirSync(claims)) {
      const record = readFileSync(path.join(claims, name), 'utf8');
      writeFileSync(path.join(claims, name), record.replace(/^(device \d+ \d+) .*$/m, '$1 0000-earlier-boot'));
    }
    // Settings that the machine makes when it boots.
    box.must('nft', 'flush', 'ruleset');
    box.must('ip', 'address', 'add', '10.99.1.1/24', 'dev', 'eth1');
    box.must('ip', 'address', 'add', '10.99.2.1/24', 'dev', 'eth2');
    const options = ['--ports', 'eth2', '--no-defaults'];
    router = await newRouter({ inside: box, options, dataDir: first.dataDir }).up();
    expect(addressesOf('eth1')).toEqual(['10.99.1.1/24']);
    expect(box.must('ip', '-brief', 'link', 'show', 'eth1')).toContain(',UP');
    expect(addressesOf('eth2')).toEqual([]);
    expect(await router.stop()).toBe(0);
    expect([addressesOf('eth1'), addressesOf('eth2')]).toEqual([['10.99.1.1/24'], ['10.99.2.1/24']]);
    expect(readdirSync(claims)).toEqual([]);
  } finally {
    for (const name of ['eth1', 'eth2']) {
      box.must('ip', 'address', 'flush', 'dev', name);
      box.must('ip', 'link', 'set', name, 'up');
    }
  }
});

test('what a killed run that was called otherwise has put before its ports goes with the next one', async () => {
  const first = await start();
  await first.crash();
  // As if its namespace had had another name, for that of this run was taken.
  const earlier = box
    .must('nft', 'list', 'ruleset')
    .replace(/table netdev tollway_\w+/, 'table netdev tollway_earlier');
  box.must('nft', 'flush', 'ruleset');
  box.must('sh', '-c', `nft -f - <<'END'\n${earlier}END`);
  const options = [...(first.settings.options ?? [])];
  router = await newRouter({ inside: box, options, dataDir: first.dataDir }).up();
  const ruleset = box.must('nft', 'list', 'ruleset');
  expect(ruleset).toContain('hook ingress device "eth1"');
  expect(ruleset).not.toContain('tollway_earlier');
  expect(await router.stop()).toBe(0);
  expect(box.must('nft', 'list', 'ruleset')).toBe('');
});

test('a port with the default route is refused, unless --take-over is given', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth2');
  box.must('ip', 'route', 'add', 'default', 'via', '10.99.0.254');
  const refused = newRouter({ inside: box, options: ['--ports', 'eth1,eth2'] });
  const started = Date.now();
  const ended = await refused.launch().ended();
  expect(Date.now() - started).toBeLessThan(15_000);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(/eth2/);
  expect(ended.stderr).toMatch(/--take-over/);
  expect(box.must('ip', 'route')).toContain('default via 10.99.0.254 dev eth2');
  expect(box.must('nft', 'list', 'ruleset')).toBe('');

  const it = await start('--take-over');
  expect(box.must('ip', 'route')).not.toContain('default');
  expect(await it.stop()).toBe(0);
  expect(box.must('ip', 'route')).toContain('default via 10.99.0.254 dev eth2');
  box.must('ip', 'route', 'del', 'default');
  box.must('ip', 'address', 'flush', 'dev', 'eth2');
});

test('a default route whose gateway is reached by a route of its own is given back with it', async () => {
  // As clouds and hosters hand out addresses of /32.
  box.must('ip', 'address', 'add', '10.99.0.1/32', 'dev', 'eth2');
  box.must('ip', 'route', 'add', '10.98.0.254', 'dev', 'eth2');
  box.must('ip', 'route', 'add', 'default', 'via', '10.98.0.254', 'dev', 'eth2');
  try {
    const before = box.must('ip', 'route');
    const it = await start('--take-over');
    expect(box.must('ip', 'route')).toBe('');
    expect(await it.stop()).toBe(0);
    expect(box.must('ip', 'route')).toBe(before);
  } finally {
    box.must('ip', 'address', 'flush', 'dev', 'eth2');
    box.must('ip', 'route', 'flush', 'dev', 'eth2');
  }
});

test('after kill -9 of npm start the router goes on while a start with its ports is refused', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth2');
  box.must('ip', 'route', 'add', 'default', 'via', '10.99.0.254');
  const killed = await start('--take-over');
  await addAddresses(killed);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  const refused = async (refusal: RegExp, dataDir: string, ...options: string[]) => {
    const settings = { inside: box, options, dataDir };
    const { code, stdout, stderr } = await newRouter(settings).launch().ended();
    expect([code, stderr], stdout).toEqual([2, expect.stringMatching(refusal)]);
    expect(stdout).not.toContain('removing');
  };
  const ports = ['--ports', 'eth1,eth2'];
  const forwards = () => left.ping('10.10.2.2', 2) === 2;
  const other = newDataDir();
  try {
    await refused(/has claimed eth1, eth2; .* stop that one/, other, ...ports, '--take-over');
    expect(forwards()).toBe(true);
    killed.process.child.kill('SIGKILL');
    await killed.process.ended();
    await refused(
      /^eth2 cannot be claimed: it carries this machine's default route.*--take-over/,
      killed.dataDir,
      ...ports,
    );
    await refused(/forwards between eth1,eth2.* --ports eth1,eth2/, killed.dataDir, '--no-lab');
    await refused(/has claimed eth1, eth2; .* start and stop that one/, other, ...ports, '--take-over');
    expect(forwards()).toBe(true);
    router = newRouter({ inside: box, options: [...(killed.settings.options ?? [])], dataDir: killed.dataDir });
    const kernel = await watchKernel();
    await router.up();
    expect(await kernel.got()).toBe('');
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    await router.crash();
    const guard = box.must('nft', 'list', 'ruleset');
    await refused(/^eth2 cannot be claimed: it carries this machine's default route.*--take-over/, other, ...ports);
    expect(box.must('nft', 'list', 'ruleset')).toBe(guard);
    await router.up();
    expect(await router.stop()).toBe(0);
    expect(box.must('ip', 'route')).toContain('default via 10.99.0.254 dev eth2');
  } finally {
    rmSync(other, { recursive: true, force: true });
    box.run('ip', 'route', 'del', 'default');
    box.run('ip', 'address', 'flush', 'dev', 'eth2');
  }
});

test('carrier loss and return are seen and survived', async () => {
  const it = await start();
  await addAddresses(it);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  right.must('ip', 'link', 'set', 'eth0', 'down');
  await eventually(async () => (await interfaceRow(it, 'ether2'))?.running === 'false');
  expect(left.ping('10.10.1.1', 3)).toBe(3);
  right.must('ip', 'link', 'set', 'eth0', 'up');
  right.must('ip', 'route', 'replace', 'default', 'via', '10.10.2.1');
  await eventually(async () => (await interfaceRow(it, 'ether2'))?.running === 'true');
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
});

test('an interface that vanishes and comes back is used again', async () => {
  const it = await start();
  await addAddresses(it);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  const agent = it.pid('agent');
  box.must('ip', 'link', 'delete', 'eth2');
  await eventually(async () => (await interfaceRow(it, 'ether2'))?.running === 'false');
  expect(left.ping('10.10.1.1', 3)).toBe(3);
  link(box, 'eth2', right, 'eth0');
  right.must('ip', 'address', 'add', '10.10.2.2/24', 'dev', 'eth0');
  right.must('ip', 'route', 'add', 'default', 'via', '10.10.2.1');
  await eventually(async () => (await interfaceRow(it, 'ether2'))?.running === 'true');
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  expect(it.pid('agent')).toBe(agent);
});

test('an agent that is started while an interface is gone starts with the others, and uses it when it comes', async () => {
  const comesBack = (mtu = 1500) => {
    link(box, 'eth2', right, 'eth0', mtu);
    right.must('ip', 'address', 'add', '10.10.2.2/24', 'dev', 'eth0');
    right.must('ip', 'route', 'add', 'default', 'via', '10.10.2.1');
  };
  const saysSo = async (of: Router) =>
    (await of.rest.list('/log')).some(({ message }) => message?.startsWith('ether2 (eth2): there is no such'));
  const first = await start();
  await addAddresses(first);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  box.must('ip', 'link', 'delete', 'eth2');
  try {
    await eventually(async () => (await interfaceRow(first, 'ether2'))?.running === 'false');
    process.kill(first.pid('agent'), 'SIGKILL');
    await eventually(() => left.ping('10.10.1.1', 1) === 1);
    await eventually(() => first.healthy());
    await eventually(() => saysSo(first));
    expect((await interfaceRow(first, 'ether2'))?.running).toBe('false');
    comesBack();
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    expect((await interfaceRow(first, 'ether2'))?.running).toBe('true');

    box.must('ip', 'link', 'delete', 'eth2');
    expect(await first.stop()).toBe(0);
    const unknown = newRouter({ inside: box, options: ['--ports', 'eth1,eth3'], dataDir: first.dataDir });
    expect(await unknown.launch().ended()).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/there is no interface eth3 here; there are: eth1\n/),
    });
    const settings = { inside: box, options: [...(first.settings.options ?? [])], dataDir: first.dataDir };
    router = await newRouter(settings).up();
    const second = router;
    expect(second.process.stderr).toMatch(/there is no interface eth2 here now .*it is used when it comes/);
    expect(second.process.stdout).toContain('eth2 as ether2 (when it comes)');
    await eventually(() => left.ping('10.10.1.1', 1) === 1);
    expect(await saysSo(second)).toBe(true);
  } finally {
    comesBack(1400);
  }
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  // The device has the MTU of its interface, and in the end the MTU that it came with.
  const mtu = () => JSON.parse(box.must('ip', '-json', 'link', 'show', 'eth2'))[0].mtu;
  expect(mtu()).toBe(1500);
  expect(await router?.stop()).toBe(0);
  expect(mtu()).toBe(1400);
  box.must('ip', 'link', 'set', 'eth2', 'mtu', '1500');
});

test('an interface that is renamed while it is claimed has its name again at once, and what keeps the kernel from it', async () => {
  box.must('ip', 'address', 'add', '10.10.1.1/24', 'dev', 'eth1');
  const it = await start();
  await addAddresses(it);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  const index = () => JSON.parse(box.must('ip', '-json', 'link', 'show', 'eth1'))[0].ifindex;
  const before = index();
  for (const down of [false, true]) {
    if (down) box.must('ip', 'link', 'set', 'eth1', 'down');
    box.must('ip', 'link', 'set', 'eth1', 'name', 'wan0');
    await eventually(() => box.run('ip', 'link', 'show', 'eth1').code === 0);
    expect(index()).toBe(before);
    if (down) box.must('ip', 'link', 'set', 'eth1', 'up');
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
    expect(box.must('nft', 'list', 'ruleset')).toContain('hook ingress device "eth1"');
  }
  const log = await it.rest.list('/log');
  expect(log.filter(({ message }) => message?.includes('had been renamed wan0'))).toHaveLength(2);
  expect(log.filter(({ message }) => message?.includes('the network device is gone'))).toEqual([]);
  expect(await it.stop()).toBe(0);
  expect(box.must('ip', '-brief', 'address', 'show', 'dev', 'eth1')).toContain('10.10.1.1/24');
  box.must('ip', 'address', 'flush', 'dev', 'eth1');
});

test('what keeps the kernel from claimed interfaces is put back when the ruleset is emptied', async () => {
  box.must('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  const it = await start();
  await addAddresses(it);
  await eventually(() => left.ping('10.10.2.2', 1) === 1);
  const guards = () =>
    [...box.must('nft', 'list', 'ruleset').matchAll(/hook ingress device "(\w+)"/g)].map(([, of]) => of);
  const all = ['eth1', 'eth2'];
  expect(guards().sort()).toEqual(all);
  // Removals as by a restart of nftables.service, and partial ones.
  const chain = /chain (\w+) \{\s+type filter hook ingress device "eth2"/.exec(box.must('nft', 'list', 'ruleset'))?.[1];
  const table = /table netdev (\w+)/.exec(box.must('nft', 'list', 'ruleset'))?.[1];
  const taken = [
    ['flush', 'ruleset'],
    ['delete', 'table', 'netdev', table ?? ''],
    ['delete', 'chain', 'netdev', table ?? '', chain ?? ''],
  ];
  for (const words of taken) {
    box.must('nft', ...words);
    await eventually(() => guards().length === 2);
    expect(guards().sort()).toEqual(all);
    await eventually(() => left.ping('10.10.2.2', 1) === 1);
  }
  const said = async () =>
    (await it.rest.list('/log')).filter(({ message }) => message?.includes('had been taken away; it is there again'));
  await eventually(async () => (await said()).length === taken.length);
  expect((await said()).map(({ topics }) => topics)).toEqual(taken.map(() => 'interface,warning'));
  expect(await it.stop()).toBe(0);
  // Given back, it stays away.
  expect(box.must('nft', 'list', 'ruleset')).not.toContain('hook ingress');
});

test('what a killed run had claimed is given back under another name, too', async () => {
  box.must('ip', 'address', 'add', '10.99.0.1/24', 'dev', 'eth1');
  const first = await start();
  await first.crash();
  box.must('ip', 'link', 'set', 'eth1', 'name', 'wan0');
  const options = ['--ports', 'wan0,eth2', '--no-defaults'];
  const second = newRouter({ inside: box, options, dataDir: first.dataDir });
  await second.up();
  expect(box.must('ip', '-brief', 'address', 'show', 'dev', 'wan0')).not.toContain('10.99.0.1/24');
  expect(await second.stop()).toBe(0);
  expect(box.must('ip', '-brief', 'address', 'show', 'dev', 'wan0')).toContain('10.99.0.1/24');
  expect(box.must('nft', 'list', 'ruleset')).toBe('');
  box.must('ip', 'address', 'flush', 'dev', 'wan0');
  box.must('ip', 'link', 'set', 'wan0', 'name', 'eth1');
});

test('a claimed port is silent by itself: the kernel neither answers ARP nor pings nor IPv6', async () => {
  box.must('ip', 'address', 'add', '10.10.1.1/24', 'dev', 'eth1');
  await start();
  const dump = left.start('tcpdump', '-n', '-l', '-i', 'eth0', '-Q', 'in');
  await eventually(() => dump.stderr.includes('listening on'));
  expect(left.ping('10.10.1.1', 3)).toBe(0);
  await sleep(2000);
  await dump.end();
  expect(dump.stdout.trim()).toBe('');
  box.must('ip', 'address', 'flush', 'dev', 'eth1');
});

test('the router namespace goes with the router', async () => {
  const it = await start();
  const netns = it.host('router').netns;
  expect(existsSync(`/run/netns/${netns}`)).toBe(true);
  await it.stop();
  expect(existsSync(`/run/netns/${netns}`)).toBe(false);
});
