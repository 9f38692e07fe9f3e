import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addHost, type Background, Host, link, removeHost, runCommand } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/**
 * Two customers with the same networks, each in a VRF of its own, and an uplink in no VRF, to which both leak and where their
 * addresses are translated.
 */

const prefix = `tw${process.pid}v`;
const NAMES = ['blue', 'red'] as const;
const CLIENT = '192.168.88.10';
const OWN = '192.168.88.1';
const SERVER = '198.51.100.7';
const CLIENT6 = '2001:db8:1::10';
const SERVER6 = '2001:db8:100::7';

/** Answers each connection with the address and port that it comes from, and with who answers. */
const ECHO = `
  import { createServer } from 'node:net';
  createServer((socket) => socket.end(socket.remoteAddress + ' ' + socket.remotePort + ' ' + process.argv[1]))
    .listen(7, '::', () => console.log('ready'));
`;

/** Connects, always from the same port, and prints the answer or the code of the error. */
const ASK = `
  import { connect } from 'node:net';
  const socket = connect({ host: process.argv[1], port: 7, localPort: 40007, timeout: 3000 });
  socket.on('data', (data) => console.log(String(data)));
  socket.on('error', ({ code }) => console.log(code));
  socket.on('timeout', () => { socket.destroy(); console.log('silence'); });
`;

let box: Host;
let clients: Host[] = [];
let server: Host;
let running: Background[] = [];
let router: Router;

const asked = (client: Host, host: string): Background => client.script(ASK, host);
const answerOf = async (asking: Background): Promise<string> => (await asking.ended()).stdout.trim();

beforeAll(async () => {
  box = addHost(`${prefix}-box`, true);
  clients = NAMES.map((name) => addHost(`${prefix}-${name}`, true));
  server = addHost(`${prefix}-server`, true);
  for (const [at, host] of [...clients, server].entries()) link(box, `eth${at + 1}`, host, 'eth0');
  for (const client of clients) {
    client.must('ip', 'address', 'add', `${CLIENT}/24`, 'dev', 'eth0');
    client.must('ip', 'route', 'add', 'default', 'via', OWN);
    client.must('ip', 'address', 'add', `${CLIENT6}/64`, 'dev', 'eth0');
    client.must('ip', '-6', 'route', 'add', 'default', 'via', '2001:db8:1::1');
  }
  server.must('ip', 'address', 'add', '10.2.0.2/24', 'dev', 'eth0');
  server.must('ip', 'address', 'add', `${SERVER}/32`, 'dev', 'lo');
  server.must('ip', 'address', 'add', '2001:db8:2::2/64', 'dev', 'eth0');
  server.must('ip', 'address', 'add', `${SERVER6}/128`, 'dev', 'lo');
  running = [
    server.script(ECHO, 'server'),
    ...clients.map((client, at) => client.script(ECHO, NAMES[at] ?? '')),
    server.start('iperf3', '-s', '-B', SERVER),
  ];
  await eventually(() => running.slice(0, 3).every((each) => each.stdout.includes('ready')));
  router = await newRouter({ inside: box, options: ['--ports', 'eth1,eth2,eth3', '--no-defaults'] }).up();
  const { rest } = router;
  for (const [at, name] of NAMES.entries()) {
    await rest.add('/ip/vrf', { name, interfaces: `ether${at + 1}` });
    await rest.add('/ip/address', { address: `${OWN}/24`, interface: `ether${at + 1}` });
    await rest.add('/ipv6/address', { address: '2001:db8:1::1/64', interface: `ether${at + 1}` });
    await rest.add('/ip/route', { gateway: '10.2.0.2@main', 'routing-table': name });
    await rest.add('/ipv6/route', { gateway: '2001:db8:2::2@main', 'routing-table': name });
  }
  await rest.add('/ip/address', { address: '10.2.0.1/24', interface: 'ether3' });
  await rest.add('/ipv6/address', { address: '2001:db8:2::1/64', interface: 'ether3' });
  await rest.add('/ip/route', { gateway: '10.2.0.2' });
  await rest.add('/ipv6/route', { gateway: '2001:db8:2::2' });
  for (const menu of ['ip', 'ipv6']) {
    const nat = { chain: 'srcnat', action: 'masquerade', 'out-interface': 'ether3' };
    await rest.add(`/${menu}/firewall/nat`, nat);
  }
});
afterAll(async () => {
  await dispose(router);
  for (const each of running) await each.end('SIGKILL');
  for (const host of [box, ...clients, server]) removeHost(host);
});

describe('two VRFs with the same network', () => {
  test('reach the uplink, with the same addresses and ports at the same time', async () => {
    for (const client of clients) {
      await eventually(() => client.ping(SERVER, 1) === 1 && client.ping(SERVER6, 1) === 1);
      expect(client.ping(SERVER, 3)).toBe(3);
      expect(client.ping(SERVER6, 3)).toBe(3);
    }
    for (const target of [SERVER, SERVER6]) {
      const answers = await Promise.all(clients.map((client) => answerOf(asked(client, target))));
      expect(new Set(answers).size, answers.join()).toBe(2);
      const own = target === SERVER ? /^::ffff:10\.2\.0\.1 \d+ server$/ : /^2001:db8:2::1 \d+ server$/;
      for (const answer of answers) expect(answer).toMatch(own);
    }
    for (const family of ['ip', 'ipv6']) {
      const connections = await router.rest.list(`/${family}/firewall/connection`);
      const asking = connections.filter((row) => row['src-port'] === '40007');
      expect(new Set(asking.map(({ vrf }) => vrf)), family).toEqual(new Set(NAMES));
    }
  });

  test('carry streams in both directions', () => {
    for (const client of clients) {
      for (const direction of [[], ['-R']]) {
        const { code, stdout, stderr } = client.run('iperf3', '-c', SERVER, '-n', '20M', ...direction);
        expect(code, stdout + stderr).toBe(0);
      }
    }
  });

  test('never reach each other, nor what is in the main table alone', async () => {
    const [blue, red] = clients;
    red?.must('ip', 'address', 'add', '192.168.88.20/24', 'dev', 'eth0');
    expect(blue?.ping('192.168.88.20', 2)).toBe(0);
    // Nor by way of the main table, which does not know their networks.
    server.must('ip', 'route', 'replace', '192.168.88.0/24', 'via', '10.2.0.1');
    expect(server.ping('192.168.88.20', 2)).toBe(0);
    const { rest } = router;
    const routes = (await rest.list('/ip/route')).filter((row) => row['routing-table'] === 'blue');
    const leak = routes.find((row) => row.dynamic !== 'true')?.['.id'] ?? '';
    await rest.set('/ip/route', leak, { disabled: 'true' });
    expect(await answerOf(asked(blue as Host, SERVER))).toBe('ENETUNREACH');
    expect(await answerOf(asked(blue as Host, '10.2.0.1'))).toBe('ENETUNREACH');
    expect(red?.ping(SERVER, 2)).toBe(2);
    await rest.set('/ip/route', leak, { disabled: 'false' });
    expect(blue?.ping(SERVER, 2)).toBe(2);
  });

  test('learn of errors, and fragments of both arrive', async () => {
    for (const client of clients) {
      const { stdout } = client.run('ping', '-n', '-c', '1', '-W', '2', '-t', '1', SERVER);
      expect(stdout).toMatch(/From 192\.168\.88\.1 .*Time to live exceeded/);
      // By the server, about the translated packet.
      const probe = `
        import { createSocket } from 'node:dgram';
        const socket = createSocket('udp4');
        socket.on('error', ({ code }) => { console.log(code); process.exit(); });
        socket.connect(9, '${SERVER}', () => setInterval(() => socket.send('x'), 100));
        setTimeout(() => { console.log('silence'); process.exit(); }, 5000);
      `;
      expect(await answerOf(client.script(probe))).toBe('ECONNREFUSED');
    }
    const pings = clients.map((client) => client.start('ping', '-n', '-i', '0.2', '-c', '5', '-s', '4000', SERVER));
    for (const ping of pings) expect((await ping.ended()).stdout).toMatch(/5 received/);
    // The router itself answers in fragments.
    for (const client of clients) {
      for (const own of [OWN, '2001:db8:1::1']) {
        const { stdout } = client.run('ping', '-n', '-c', '3', '-i', '0.2', '-W', '2', '-s', '4000', own);
        expect(stdout, own).toMatch(/3 received/);
      }
    }
  });

  test('take over routes of other programs, each from its own namespace into its own table', async () => {
    const [blue] = NAMES.map((name) => new Host(`${router.host('router').netns}-vrf-${name}`));
    const behind = { ip: '203.0.113.0/24', ipv6: '2001:db8:77::/48' } as const;
    const target = { ip: '203.0.113.5', ipv6: '2001:db8:77::5' } as const;
    const gateway = { ip: CLIENT, ipv6: CLIENT6 } as const;
    const words = { ip: ['ip'], ipv6: ['ip', '-6'] } as const;
    for (const client of clients) {
      client.must('ip', 'address', 'add', `${target.ip}/32`, 'dev', 'lo');
      client.must('ip', 'address', 'add', `${target.ipv6}/128`, 'dev', 'lo');
    }
    for (const family of ['ip', 'ipv6'] as const) {
      const listed = async () =>
        (await router.rest.list(`/${family}/route`)).filter((row) => row['dst-address'] === behind[family]);
      const route = (verb: string, ...more: string[]) =>
        blue?.must(...words[family], 'route', verb, behind[family], 'via', gateway[family], 'proto', '186', ...more);
      route('add');
      await eventually(async () => (await listed()).length === 1);
      const [row] = await listed();
      expect(row).toMatchObject({
        dynamic: 'true',
        active: 'true',
        bgp: 'true',
        gateway: gateway[family],
        'routing-table': 'blue',
      });
      expect(await router.rest.get(`/${family}/route`, row?.['.id'] ?? '')).toEqual(row);
      // The client of blue answers, to blue alone: red's packets go to the uplink, where nobody has the address.
      expect(blue?.ping(target[family], 2)).toBe(2);
      const red = new Host(`${router.host('router').netns}-vrf-red`);
      expect(red.ping(target[family], 1)).toBe(0);
      // It stays as the configuration changes, and goes with the program's route.
      const other = await router.rest.add(`/${family}/route`, {
        blackhole: '',
        'routing-table': 'blue',
        distance: '9',
      });
      expect(await listed()).toEqual([row]);
      await router.rest.remove(`/${family}/route`, other);
      expect(blue?.ping(target[family], 1)).toBe(1);
      route('del');
      await eventually(async () => (await listed()).length === 0);
    }
  });

  test('have the router itself in namespaces of their own', async () => {
    const main = router.host('router');
    const namespaces = NAMES.map((name) => new Host(`${main.netns}-vrf-${name}`));
    for (const [at, namespace] of namespaces.entries()) {
      expect(namespace.ping(CLIENT, 2)).toBe(2);
      expect(namespace.ping(CLIENT6, 2)).toBe(2);
      // It is the client of this VRF that answers.
      expect(await answerOf(asked(namespace, CLIENT))).toBe(`::ffff:${OWN} 40007 ${NAMES[at]}`);
      // By the route that leaks.
      expect(namespace.ping(SERVER, 2)).toBe(2);
    }
    for (const client of clients) {
      expect(client.ping(OWN, 2)).toBe(2);
      expect(client.ping('2001:db8:1::1', 2)).toBe(2);
    }
    // The main one has their addresses not.
    expect(main.must('ip', '-br', 'address')).not.toContain(OWN);
    const blue = (await router.rest.list('/ip/vrf')).find(({ name }) => name === 'blue')?.['.id'] ?? '';
    await router.rest.set('/ip/vrf', blue, { name: 'green' });
    const named = runCommand(['ip', 'netns', 'list']).stdout;
    expect(named).toContain(`${main.netns}-vrf-green`);
    expect(named).not.toContain(`${main.netns}-vrf-blue`);
    await eventually(() => clients[0]?.ping(SERVER, 1) === 1);
  });
});
