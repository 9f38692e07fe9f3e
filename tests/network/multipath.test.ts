import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countPackets } from './counter.ts';
import { addHost, type Background, type Host, link, removeHost } from './netns.ts';
import { ipv4, sendRaw, UDP, udp } from './raw-packet.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** A default route by two providers, each of which answers for all addresses of a network and says who it is. */

const prefix = `tw${process.pid}m`;
const NAMES = ['one', 'two'] as const;

/** Answers each connection with its name. */
const SERVER = `
  import { createServer } from 'node:net';
  createServer((socket) => socket.end(process.argv[1])).listen(7, '::', () => console.log('ready'));
`;

/** Connects to 40 addresses, and prints who has answered each, a letter each: a dot for nobody. */
const ASK = `
  import { connect } from 'node:net';
  const ask = (last) => new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: process.argv[1] + last, port: 7, timeout: 3000 });
    socket.on('data', (data) => { text += data; });
    socket.on('end', () => resolve(text[0] ?? '.'));
    for (const event of ['error', 'timeout']) socket.on(event, () => { socket.destroy(); resolve('.'); });
  });
  console.log((await Promise.all(Array.from({ length: 40 }, (_, at) => ask(at + 1)))).join(''));
`;

/** What the tests of a family differ in. The network of link `n` is `networks(n)`, to which the last part of an address is added. */
interface Family {
  readonly menu: 'ip' | 'ipv6';
  readonly networks: (n: number) => string;
  readonly length: number;
  /** Of the network that both providers answer for. */
  readonly behind: string;
  /** Of a gateway that is in none of the networks. */
  readonly far: string;
  /** Of a network to which packets are refused. */
  readonly refused: string;
  readonly answers: Readonly<Record<'unreachable' | 'prohibit', RegExp>>;
  /** Of a host that answers no echo requests. */
  readonly noEcho: string;
  /** A host on the second link no longer says which its link-layer address is, or does so again. */
  readonly silence: (host: Host, silent: boolean) => void;
}

const IPV6_HOST = ['2001:db8:2::2/64', 'dev', 'eth0'];
const FAMILIES: readonly Family[] = [
  {
    menu: 'ip',
    networks: (n) => `10.10.${n}.`,
    length: 24,
    behind: '198.51.100.',
    far: '172.16.9.',
    refused: '192.0.2.',
    answers: { unreachable: /Destination Host Unreachable/, prohibit: /Packet filtered/ },
    noEcho: 'net.ipv4.icmp_echo_ignore_all',
    silence: (host, silent) => void host.must('ip', 'link', 'set', 'eth0', 'arp', silent ? 'off' : 'on'),
  },
  {
    menu: 'ipv6',
    networks: (n) => `2001:db8:${n}::`,
    length: 64,
    behind: '2001:db8:100::',
    far: '2001:db8:99::',
    refused: '2001:db8:2b::',
    answers: { unreachable: /Address unreachable/, prohibit: /Administratively prohibited/ },
    noEcho: 'net.ipv6.icmp.echo_ignore_all',
    silence: (host, silent) => void host.must('ip', '-6', 'address', silent ? 'delete' : 'add', ...IPV6_HOST),
  },
];

describe.each(FAMILIES)(
  '/$menu/route',
  ({ menu, networks, length, behind, far, refused, answers, noEcho, silence }) => {
    const ROUTE = `/${menu}/route`;
    const network = (start: string) => `${start}${menu === 'ip' ? '0' : ''}/${length}`;
    let box: Host;
    let client: Host;
    let providers: Host[] = [];
    let servers: Background[] = [];
    let router: Router;
    let route: string;

    const answered = (): string => client.must(process.execPath, '--input-type=module', '-e', ASK, behind).trim();

    const gateways = async () => {
      const row = (await router.rest.list(ROUTE)).find((each) => each['.id'] === route);
      return { ecmp: row?.ecmp, active: row?.active, by: row?.['immediate-gw'] };
    };

    const [first, second] = [`${networks(2)}2`, `${networks(3)}2`];

    beforeAll(async () => {
      const ipv6 = menu === 'ipv6';
      box = addHost(`${prefix}${menu}-box`, ipv6);
      client = addHost(`${prefix}${menu}-client`, ipv6);
      providers = NAMES.map((name) => addHost(`${prefix}${menu}-${name}`, ipv6));
      for (const [at, host] of [client, ...providers].entries()) {
        link(box, `eth${at + 1}`, host, 'eth0');
        host.must('ip', 'address', 'add', `${networks(at + 1)}2/${length}`, 'dev', 'eth0');
        host.must('ip', ipv6 ? '-6' : '-4', 'route', 'add', 'default', 'via', `${networks(at + 1)}1`, 'dev', 'eth0');
      }
      for (const host of providers) host.must('ip', 'route', 'add', 'local', network(behind), 'dev', 'lo');
      servers = providers.map((host, at) => host.script(SERVER, NAMES[at] ?? ''));
      await eventually(() => servers.every((server) => server.stdout.includes('ready')));
      router = await newRouter({ inside: box, options: ['--ports', 'eth1,eth2,eth3', '--no-defaults'] }).up();
      for (const at of [1, 2, 3]) {
        const address = { address: `${networks(at)}1/${length}`, interface: `ether${at}` };
        await router.rest.add(`/${menu}/address`, address);
      }
      await router.rest.add(`/${menu}/firewall/filter`, { chain: 'forward', action: 'passthrough' });
      route = await router.rest.add(ROUTE, { gateway: `${first},${second}`, 'check-gateway': 'ping' });
    });
    afterAll(async () => {
      await dispose(router);
      for (const server of servers) await server.end('SIGKILL');
      for (const host of [box, client, ...providers]) removeHost(host);
    });

    test('flows are divided, and those of a gateway that stops answering move, the others do not', async () => {
      await eventually(async () => (await gateways()).ecmp === 'true');
      expect(await gateways()).toEqual({ ecmp: 'true', active: 'true', by: `${first}%ether2,${second}%ether3` });
      const before = answered();
      expect(before).toMatch(/^[ot]{40}$/);
      expect(before.match(/o/g)?.length).toBeGreaterThan(5);
      expect(before.match(/t/g)?.length).toBeGreaterThan(5);
      expect(answered()).toBe(before);

      // The second provider stays on the link, but its gateway answers no echo request any more.
      providers[1]?.must('sysctl', '-qw', `${noEcho}=1`);
      await eventually(async () => (await gateways()).by === `${first}%ether2`);
      expect((await gateways()).active).toBe('true');
      expect(answered()).toBe('o'.repeat(40));
      providers[0]?.must('sysctl', '-qw', `${noEcho}=1`);
      await eventually(async () => (await gateways()).active === 'false');
      const hint = (await router.rest.list(ROUTE)).find((each) => each['.id'] === route)?.hint;
      expect(hint).toContain(`the gateway ${first} does not answer`);
      for (const host of providers) host.must('sysctl', '-qw', `${noEcho}=0`);
      await eventually(async () => (await gateways()).ecmp === 'true');
      expect(answered()).toBe(before);
      const log = (await router.rest.list('/log')).map(({ message }) => message);
      expect(log).toContain(`gateway ${second} does not answer`);
      expect(log).toContain(`gateway ${second} answers again`);
    }, 300_000);

    test('routes of the same distance share flows, and of a lower one the other is a spare', async () => {
      await router.rest.set(ROUTE, route, { gateway: first, 'check-gateway': 'arp' });
      const other = await router.rest.add(ROUTE, { gateway: second });
      await eventually(async () => (await gateways()).ecmp === 'true');
      expect(answered()).toMatch(/^(?=.*o)(?=.*t)[ot]{40}$/);
      await router.rest.set(ROUTE, other, { distance: '2' });
      await eventually(() => answered() === 'o'.repeat(40));
      // The first provider falls silent on its link, which stays up.
      const [provider] = providers;
      if (provider === undefined) throw new Error('no provider');
      silence(provider, true);
      await eventually(async () => (await gateways()).active === 'false');
      expect(answered()).toBe('t'.repeat(40));
      silence(provider, false);
      await eventually(() => answered() === 'o'.repeat(40));
      await router.rest.remove(ROUTE, other);
    }, 300_000);

    test('a gateway may be behind another route, and a route may refuse', async () => {
      await router.rest.set(ROUTE, route, { 'check-gateway': 'none', gateway: `${far}9` });
      await eventually(async () => (await gateways()).active === 'false');
      const near = await router.rest.add(ROUTE, { 'dst-address': `${far}9`, gateway: second, scope: '10' });
      await eventually(async () => (await gateways()).by === `${second}%ether3`);
      expect(answered()).toBe('t'.repeat(40));
      await router.rest.set(ROUTE, near, { gateway: first });
      await eventually(() => answered() === 'o'.repeat(40));
      const ping = () => client.run('ping', '-n', '-c', '2', '-i', '0.3', '-W', '1', `${refused}7`).stdout;
      for (const type of ['unreachable', 'prohibit'] as const) {
        const refusing = await router.rest.add(ROUTE, { 'dst-address': network(refused), [type]: 'yes' });
        await eventually(() => answers[type].test(ping()));
        await router.rest.remove(ROUTE, refusing);
      }
    }, 300_000);

    // Packets of tunnels as no socket makes them: this kernel need not know tunnels.
    test.runIf(menu === 'ip').each([
      ['IPIP', 4, []],
      ['GRE', 47, [0, 0, 8, 0]],
    ] as const)(
      'l3-inner divides the flows in a tunnel of %s, which are one to l3',
      async (_, protocol, header) => {
        await router.rest.set(ROUTE, route, { gateway: `${first},${second}` });
        const counters = providers.map((host) => countPackets(host, 'prerouting', 'ip', 'protocol', String(protocol)));
        const packets = Array.from({ length: 60 }, (__, at) => {
          const inner = ipv4({ src: `172.16.0.${at + 1}`, dst: '172.17.0.1', protocol: UDP }, udp(4_000, 53, 'x'));
          const payload = Buffer.concat([Buffer.from(header), inner]);
          return ipv4({ src: `${networks(1)}2`, dst: `${behind}9`, protocol }, payload);
        });
        const counted = async (policy: string) => {
          await router.rest.request('PATCH', '/rest/ip/settings', { 'ipv4-multipath-hash-policy': policy });
          const before = counters.map((count) => count().packets);
          for (const round of [1, 2]) {
            sendRaw(client, ...packets);
            const all = () => counters.reduce((sum, count, at) => sum + count().packets - (before[at] ?? 0), 0);
            await eventually(() => all() >= round * packets.length);
          }
          return counters.map((count, at) => count().packets - (before[at] ?? 0));
        };
        expect((await counted('l3')).toSorted((a, b) => a - b)).toEqual([0, 120]);
        const divided = await counted('l3-inner');
        // Each inner flow goes the same way both times.
        expect(divided.map((number) => number % 2)).toEqual([0, 0]);
        for (const number of divided) expect(number).toBeGreaterThan(20);
        await router.rest.request('PATCH', '/rest/ip/settings', { 'ipv4-multipath-hash-policy': 'l3' });
      },
      300_000,
    );
  },
);
