import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Row } from './rest.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually, sleep } from './wait.ts';

const FILTER = '/ip/firewall/filter';
const NAT = '/ip/firewall/nat';

let router: Router;

beforeAll(async () => {
  router = await newRouter().up();
});
afterAll(() => dispose(router));

const rule = async (menu: string, id: string): Promise<Row> => router.rest.get(menu, id);
const count = (row: Row | undefined, property: string): number => Number(row?.[property] ?? Number.NaN);
/** The first rule that is not the system's own. */
const firstRule = async (menu: string): Promise<string | undefined> =>
  (await router.rest.list(menu)).find((row) => row.dynamic !== 'true')?.['.id'];

/** Adds a rule in front of all others. */
async function addFirst(menu: string, row: Record<string, string>): Promise<string> {
  const before = await firstRule(menu);
  return router.rest.add(menu, before === undefined ? row : { ...row, 'place-before': before });
}

describe('the lab, by itself', () => {
  test('rates move within a minute', async () => {
    const before = await router.rest.list('/interface');
    const moved = (rows: Row[], name: string, property: string) =>
      count(
        rows.find((row) => row.name === name),
        property,
      );
    await eventually(
      async () => {
        const now = await router.rest.list('/interface');
        for (const name of ['ether1', 'ether2', 'ether3']) {
          expect(moved(now, name, 'rx-byte')).toBeGreaterThan(moved(before, name, 'rx-byte'));
          expect(moved(now, name, 'tx-packet')).toBeGreaterThan(moved(before, name, 'tx-packet'));
        }
        return true;
      },
      60_000,
      500,
    );
  });

  test('/healthz answers without authentication, REST does not', async () => {
    expect((await fetch(`${router.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${router.url}/rest/interface`)).status).toBe(401);
  });
});

describe('filter rules', () => {
  test('a rule that drops ICMP stops a running ping, disabling it resumes it, its counter equals the pings', async () => {
    const lan = router.host('lan');
    expect(lan.ping(SERVER, 3)).toBe(3);
    const ping = lan.start('ping', '-n', '-O', '-i', '0.1', SERVER);
    const replies = () => ping.stdout.match(/bytes from/g)?.length ?? 0;
    try {
      await eventually(() => replies() > 5);
      const id = await addFirst(FILTER, {
        chain: 'forward',
        protocol: 'icmp',
        'in-interface': 'ether2',
        'out-interface': 'ether1',
        action: 'drop',
      });
      await sleep(1000);
      const stopped = replies();
      await sleep(1000);
      expect(replies()).toBe(stopped);

      await router.rest.set(FILTER, id, { disabled: 'true' });
      await eventually(() => replies() > stopped, 5000);
      await ping.end();

      await router.rest.set(FILTER, id, { disabled: 'false' });
      await router.rest.command(`${FILTER}/reset-counters`, { numbers: id });
      expect(count(await rule(FILTER, id), 'packets')).toBe(0);
      expect(lan.ping(SERVER, 20)).toBe(0);
      await eventually(async () => {
        const row = await rule(FILTER, id);
        expect(count(row, 'packets')).toBe(20);
        // 56 bytes of data, 8 of ICMP, 20 of IP.
        expect(count(row, 'bytes')).toBe(20 * 84);
        return true;
      });
      await router.rest.remove(FILTER, id);
      await eventually(() => lan.ping(SERVER, 1) === 1);
    } finally {
      await ping.end();
    }
  });

  test('reject answers with the ICMP error or the RST that it names', async () => {
    const lan = router.host('lan');
    const id = await addFirst(FILTER, {
      chain: 'forward',
      protocol: 'tcp',
      'dst-address': SERVER,
      'dst-port': '7777',
      action: 'reject',
      'reject-with': 'tcp-reset',
    });
    const started = Date.now();
    const curl = lan.run('curl', '-s', '-m', '10', `http://${SERVER}:7777/`);
    // 7: refused at once; 28 would be a timeout.
    expect(curl.code).toBe(7);
    expect(Date.now() - started).toBeLessThan(5000);
    await router.rest.set(FILTER, id, {
      protocol: 'icmp',
      '!dst-port': '',
      'reject-with': 'icmp-admin-prohibited',
    });
    const ping = lan.run('ping', '-n', '-c', '1', '-W', '2', SERVER);
    expect(ping.stdout).toMatch(/Packet filtered|prohibited/i);
    await router.rest.remove(FILTER, id);
  });

  test('a jump to a chain that does not exist is kept as invalid and heals when the chain appears', async () => {
    const jump = await router.rest.add(FILTER, { chain: 'forward', action: 'jump', 'jump-target': 'h7-later' });
    expect((await rule(FILTER, jump)).invalid).toBe('true');
    const target = await router.rest.add(FILTER, { chain: 'h7-later', action: 'return' });
    expect((await rule(FILTER, jump)).invalid).not.toBe('true');
    await router.rest.remove(FILTER, target);
    expect((await rule(FILTER, jump)).invalid).toBe('true');
    await router.rest.remove(FILTER, jump);
  });
});

describe('masquerade', () => {
  test('iperf3 through it: flags SAC and F, fasttrack counters, the same in the accept rule', async () => {
    const lan = router.host('lan');
    const rules = await router.rest.list(FILTER);
    const fasttrack = rules.find((row) => row.action === 'fasttrack-connection' && row.chain === 'forward');
    const accept = rules.find(
      (row) => row.action === 'accept' && row.chain === 'forward' && row['connection-state']?.includes('established'),
    );
    const settingsBefore = await router.rest.get('/ip/settings');
    const interfacesBefore = await router.rest.list('/interface');
    // At a rate that leaves room in the queues of the devices, so that no ping is lost while the cores are busy.
    const iperf = lan.start('iperf3', '-c', SERVER, '-b', '200M', '-t', '6', '-J');
    await sleep(2500);
    const connections = await router.rest.list('/ip/firewall/connection');
    const iperfConnections = connections.filter((row) => row['dst-address']?.startsWith(`${SERVER}:5201`));
    expect(iperfConnections.length).toBeGreaterThan(0);
    for (const connection of iperfConnections) {
      expect(connection).toMatchObject({
        protocol: 'tcp',
        'seen-reply': 'true',
        assured: 'true',
        confirmed: 'true',
        srcnat: 'true',
        'reply-dst-address': expect.stringMatching(/^203\.0\.113\.2:/),
      });
    }
    expect(iperfConnections.some((row) => row.fasttrack === 'true')).toBe(true);
    // Not fasttracked, so the fast path counts it as its own.
    expect(lan.ping(SERVER, 10)).toBe(10);
    const result = await iperf.ended();
    expect(result.code, result.stdout + result.stderr).toBe(0);

    await sleep(300);
    const counts = async (row: Row | undefined) => {
      const now = await rule(FILTER, row?.['.id'] ?? '');
      return [count(now, 'packets'), count(now, 'bytes')];
    };
    // The pair sees the same packets; other traffic flows between the two readings.
    const [fasttrackBefore] = await counts(fasttrack);
    const [accepted] = await counts(accept);
    const [fasttrackAfter] = await counts(fasttrack);
    expect(fasttrackBefore).toBeGreaterThan(1000);
    expect(accepted).toBeGreaterThanOrEqual(fasttrackBefore ?? Number.NaN);
    expect(accepted).toBeLessThanOrEqual(fasttrackAfter ?? Number.NaN);

    const settings = await router.rest.get('/ip/settings');
    const grew = (property: string) => count(settings, property) - count(settingsBefore, property);
    expect(grew('ipv4-fasttrack-packets')).toBeGreaterThan(0);
    expect(grew('ipv4-flow-cache-packets')).toBeGreaterThan(0);

    // More than 95 % of what came in on the two ports went by the fast path.
    const interfaces = await router.rest.list('/interface');
    const sum = (rows: Row[], property: string) =>
      rows
        .filter((row) => row.name === 'ether1' || row.name === 'ether2')
        .reduce((n, row) => n + count(row, property), 0);
    const all = sum(interfaces, 'rx-packet') - sum(interfacesBefore, 'rx-packet');
    const fast = sum(interfaces, 'fp-rx-packet') - sum(interfacesBefore, 'fp-rx-packet');
    expect(fast / all).toBeGreaterThan(0.95);
  });

  test('two connections with the same source port both work', async () => {
    const talk = `
      import { connect } from 'node:net';
      const socket = connect({ host: '${SERVER}', port: 80, localPort: 41414 });
      let answered = 0;
      const ask = () => socket.write('GET /?bytes=10 HTTP/1.1\\r\\nHost: server\\r\\n\\r\\n');
      socket.on('connect', ask);
      socket.on('data', () => { answered++; if (answered < 20) setTimeout(ask, 100); else { console.log('answered'); socket.destroy(); } });
      socket.on('error', (error) => { console.error(error.message); process.exit(1); });
      setTimeout(() => process.exit(2), 20000).unref();`;
    const both = [router.host('lan').script(talk), router.host('lan2').script(talk)];
    const clashing = await eventually(async () => {
      const rows = await router.rest.list('/ip/firewall/connection');
      const found = rows.filter((row) => row['src-address']?.endsWith(':41414'));
      return found.length === 2 ? found : undefined;
    });
    const replyPorts = clashing.map((row) => row['reply-dst-address']);
    expect(new Set(replyPorts).size).toBe(2);
    for (const each of both) expect(await each.ended()).toMatchObject({ code: 0, stdout: 'answered\n' });
  });

  test('curl, a DNS query, ping and traceroute work through it', async () => {
    const lan = router.host('lan');
    const page = lan.run(
      'curl',
      '-s',
      '-m',
      '10',
      '-o',
      '/dev/null',
      '-w',
      '%{size_download}',
      `http://${SERVER}/?bytes=500000`,
    );
    expect(page).toMatchObject({ code: 0, stdout: '500000' });
    const query = lan.script(`
      import { Resolver } from 'node:dns/promises';
      const resolver = new Resolver({ timeout: 3000, tries: 3 });
      resolver.setServers(['${SERVER}']);
      console.log((await resolver.resolve4('www.example.com')).join());`);
    expect(await query.ended()).toMatchObject({ code: 0, stdout: `${SERVER}\n` });
    expect(lan.ping(SERVER, 5)).toBe(5);
    for (const kind of ['-I', '-U']) {
      const trace = lan.must('traceroute', '-n', '-N', '1', '-w', '3', kind, SERVER);
      const hops = [...trace.matchAll(/^ *\d+ {2}(\S+)/gm)].map((match) => match[1]);
      expect(hops, trace).toEqual(['192.168.88.1', '203.0.113.1', SERVER]);
      // Three probes a hop; the router answers each.
      expect(/^ 1 .*/m.exec(trace)?.[0], trace).toMatch(/( {2}[\d.]+ ms){3}$/);
      await sleep(500);
    }
  });

  test('a TCP transfer arrives whole, both ways', async () => {
    const lan = router.host('lan');
    const receiver = router.host('server').script(`
      import { createHash } from 'node:crypto';
      import { createServer } from 'node:net';
      createServer({ allowHalfOpen: true }, (socket) => {
        const hash = createHash('sha256');
        socket.on('data', (chunk) => hash.update(chunk));
        socket.on('end', () => socket.end(hash.digest('hex')));
      }).listen(9009, () => console.log('ready'));`);
    await eventually(() => receiver.stdout.includes('ready'));
    const sender = lan.script(`
      import { createHash, randomBytes } from 'node:crypto';
      import { connect } from 'node:net';
      const data = randomBytes(20 << 20);
      const socket = connect(9009, '${SERVER}', () => socket.end(data));
      let answer = '';
      socket.on('data', (chunk) => { answer += chunk; });
      socket.on('close', () => process.exit(answer === createHash('sha256').update(data).digest('hex') ? 0 : 1));`);
    expect(await sender.ended()).toMatchObject({ code: 0 });
    await receiver.end('SIGTERM');
  });

  test('nothing with a private address leaves by wan', async () => {
    const wan = router.host('wan');
    const dump = wan.start('tcpdump', '-n', '-i', 'eth0', '-c', '1', 'src', 'net', '192.168.0.0/16');
    await eventually(() => dump.stderr.includes('listening on'));
    router.host('lan').ping(SERVER, 5);
    await sleep(1000);
    await dump.end();
    expect(dump.stdout.trim()).toBe('');
  });
});

test('a port forwarded by dst-nat works from wan', async () => {
  const server = router.host('lan').script(`
    import { createServer } from 'node:http';
    createServer((request, response) => response.end('from ' + request.socket.remoteAddress)).listen(8000, () => console.log('ready'));`);
  await eventually(() => server.stdout.includes('ready'));
  const nat = await router.rest.add(NAT, {
    chain: 'dstnat',
    protocol: 'tcp',
    'dst-address': '203.0.113.2',
    'dst-port': '8022',
    action: 'dst-nat',
    'to-addresses': '192.168.88.10',
    'to-ports': '8000',
  });
  try {
    const curl = router.host('wan').run('curl', '-s', '-m', '10', 'http://203.0.113.2:8022/');
    expect(curl).toMatchObject({ code: 0, stdout: 'from ::ffff:203.0.113.1' });
    const fromServer = router.host('server').run('curl', '-s', '-m', '10', 'http://203.0.113.2:8022/');
    expect(fromServer).toMatchObject({ code: 0, stdout: `from ::ffff:${SERVER}` });
    // NAT rules count the first packet of a connection.
    await eventually(async () => count(await rule(NAT, nat), 'packets') === 2);
  } finally {
    await router.rest.remove(NAT, nat);
    await server.end('SIGTERM');
  }
});

test('a connection can be removed', async () => {
  const lan = router.host('lan');
  lan.script(`import { createSocket } from 'node:dgram';
    const socket = createSocket('udp4'); socket.bind(42424, () => socket.send('x', 5999, '${SERVER}', () => socket.close()));`);
  const find = async () =>
    (await router.rest.list('/ip/firewall/connection')).find((row) => row['src-address'] === '192.168.88.10:42424');
  const found = await eventually(find);
  await router.rest.remove('/ip/firewall/connection', found['.id'] ?? '');
  await eventually(async () => (await find()) === undefined);
});
