import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addHost, type Background, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** Two providers, each of which answers for all addresses of a network and says who it is; clients are split between them. */

const prefix = `tw${process.pid}p`;
const NAMES = ['one', 'two'] as const;

/** Answers each connection with its name. */
const SERVER = `
  import { createServer } from 'node:net';
  createServer((socket) => socket.end(process.argv[1])).listen(7, '::', () => console.log('ready'));
`;

/** Connects from an address to another one, and prints who has answered, or the code of the error. */
const ASK = `
  import { connect } from 'node:net';
  const [host, localAddress] = process.argv.slice(1);
  const socket = connect({ host, localAddress, port: 7, timeout: 3000 });
  socket.on('data', (data) => console.log(String(data)));
  socket.on('error', ({ code }) => console.log(code));
  socket.on('timeout', () => { socket.destroy(); console.log('silence'); });
`;

/** What the tests of a family differ in. The network of link `n` is `networks(n)`, to which the last part of an address is added. */
interface Family {
  readonly menu: 'ip' | 'ipv6';
  readonly networks: (n: number) => string;
  readonly length: number;
  /** Of the network that both providers answer for. */
  readonly behind: string;
}

const FAMILIES: readonly Family[] = [
  { menu: 'ip', networks: (n) => `10.20.${n}.`, length: 24, behind: '198.51.100.' },
  { menu: 'ipv6', networks: (n) => `2001:db8:2${n}::`, length: 64, behind: '2001:db8:100::' },
];

describe.each(FAMILIES)('routing tables, rules and marks of $menu', ({ menu, networks, length, behind }) => {
  const ROUTE = `/${menu}/route`;
  const network = (start: string) => `${start}${menu === 'ip' ? '0' : ''}/${length}`;
  const [plain, special] = [`${networks(1)}2`, `${networks(1)}3`];
  let box: Host;
  let client: Host;
  let providers: Host[] = [];
  let servers: Background[] = [];
  let router: Router;
  let route: string;
  let rule: string;

  const answered = (from: string): string =>
    client.must(process.execPath, '--input-type=module', '-e', ASK, `${behind}9`, from).trim();

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
    client.must('ip', 'address', 'add', `${special}/${length}`, 'dev', 'eth0');
    for (const host of providers) host.must('ip', 'route', 'add', 'local', network(behind), 'dev', 'lo');
    servers = providers.map((host, at) => host.script(SERVER, NAMES[at] ?? ''));
    await eventually(() => servers.every((server) => server.stdout.includes('ready')));
    router = await newRouter({ inside: box, options: ['--ports', 'eth1,eth2,eth3', '--no-defaults'] }).up();
    for (const at of [1, 2, 3]) {
      const address = { address: `${networks(at)}1/${length}`, interface: `ether${at}` };
      await router.rest.add(`/${menu}/address`, address);
    }
    await router.rest.add('/routing/table', { name: 'isp2', fib: '' });
    await router.rest.add(ROUTE, { gateway: `${networks(2)}2` });
    route = await router.rest.add(ROUTE, { gateway: `${networks(3)}2`, 'routing-table': 'isp2' });
    rule = await router.rest.add('/routing/rule', { 'src-address': special, table: 'isp2' });
  });
  afterAll(async () => {
    await dispose(router);
    for (const server of servers) await server.end('SIGKILL');
    for (const host of [box, client, ...providers]) removeHost(host);
  });

  test('a rule sends the packets of a client by another provider', async () => {
    await eventually(() => answered(plain) === 'one');
    expect(answered(special)).toBe('two');
    const rows = await router.rest.list(ROUTE);
    expect(rows.find((row) => row['.id'] === route)).toMatchObject({ 'routing-table': 'isp2', active: 'true' });
  });

  test('without a route in the table the main table has it, or nobody if the rule says so', async () => {
    await router.rest.set(ROUTE, route, { disabled: 'true' });
    expect(answered(special)).toBe('one');
    // The answer of the router itself must find its way: the rule is for packets that come in from clients.
    await router.rest.set('/routing/rule', rule, { action: 'lookup-only-in-table', interface: 'ether1' });
    expect(answered(special)).toBe('ENETUNREACH');
    await router.rest.set(ROUTE, route, { disabled: 'false' });
    expect(answered(special)).toBe('two');
    await router.rest.set('/routing/rule', rule, { action: 'unreachable' });
    expect(answered(special)).toBe('ENETUNREACH');
    await router.rest.set('/routing/rule', rule, { disabled: 'true' });
    expect(answered(special)).toBe('one');
  });

  test('a routing mark sends packets by the table of its name', async () => {
    const mangle = `/${menu}/firewall/mangle`;
    const marking = await router.rest.add(mangle, {
      chain: 'prerouting',
      'src-address': plain,
      protocol: 'tcp',
      'dst-port': '7',
      action: 'mark-routing',
      'new-routing-mark': 'isp2',
    });
    expect(answered(plain)).toBe('two');
    expect(answered(special)).toBe('one');
    await router.rest.set(mangle, marking, { disabled: 'true' });
    expect(answered(plain)).toBe('one');
  });
});
