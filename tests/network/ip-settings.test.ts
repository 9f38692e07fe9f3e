import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Background } from './netns.ts';
import { addressBytes, ICMP, ipv4, redirect, sendRaw, syn, TCP, UDP, udp } from './raw-packet.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** The switches of IP settings with real packets: each is off and on. */

const LAN = '192.168.88.10';
/** Another address of lan, for packets that lan's first one is the gateway of. */
const SUBSCRIBER = '192.168.88.20';
const ROUTER = '192.168.88.1';
/** Another address of lan: a second gateway on that network. */
const GATEWAY = '192.168.88.77';
const WAN = '203.0.113.2';
/** A network that is behind lan. */
const BEHIND = '172.16.0.1';
const SETTINGS = '/rest/ip/settings';

let router: Router;
let defaults: Record<string, string>;

beforeAll(async () => {
  router = await newRouter().up();
  router.host('lan').must('ip', 'address', 'add', `${GATEWAY}/24`, 'dev', 'eth0');
  await router.rest.add('/ip/route', { 'dst-address': '172.16.0.0/16', gateway: LAN });
  const { body } = await router.rest.request('GET', SETTINGS);
  defaults = body as Record<string, string>;
});
afterAll(() => dispose(router));

async function set(values: Readonly<Record<string, string>>): Promise<void> {
  const { status, body } = await router.rest.request('PATCH', SETTINGS, values);
  expect(status, JSON.stringify(body)).toBe(200);
}

/** Sets values for a test, and the defaults after it. */
async function having(values: Readonly<Record<string, string>>, work: () => Promise<void>): Promise<void> {
  await set(values);
  try {
    await work();
  } finally {
    await set(Object.fromEntries(Object.keys(values).map((name) => [name, defaults[name] ?? ''])));
  }
}

/** What a host sees while something is done, by tcpdump. */
async function seen(name: 'lan' | 'wan', filter: string, work: () => Promise<void> | void): Promise<string> {
  const dump: Background = router.host(name).start('tcpdump', '-n', '-v', '-e', '-l', '-i', 'eth0', filter);
  await eventually(() => dump.stderr.includes('listening on'));
  await work();
  await sleep(700);
  await dump.end();
  return dump.stdout;
}

const toServer = (options: readonly number[], dst = ROUTER) =>
  ipv4({ src: LAN, dst, protocol: UDP, options }, udp(4001, 4002, 'by options'));

test('each is there with its default, and is set', async () => {
  expect(defaults).toMatchObject({
    'send-redirects': 'true',
    'accept-redirects': 'false',
    'secure-redirects': 'true',
    'accept-source-route': 'false',
    'tcp-syncookies': 'false',
    'tcp-timestamps': 'random-offset',
    'icmp-rate-mask': '0x1818',
    'icmp-errors-use-inbound-interface-address': 'false',
    'ipv4-high-fragment-thresh': '4194304',
    'ipv4-fragment-time': '5',
    'route-cache': 'true',
  });
  await having({ 'route-cache': 'no', 'icmp-rate-mask': '6168' }, async () => {
    const { body } = await router.rest.request('GET', SETTINGS);
    expect(body).toMatchObject({ 'route-cache': 'false', 'icmp-rate-mask': '0x1818' });
  });
});

test('Record Route and Timestamp are filled in on the way and by the router itself', () => {
  const lan = router.host('lan');
  const recorded = lan.must('ping', '-n', '-R', '-c', '1', '-W', '4', SERVER);
  expect(recorded).toMatch(/1 received/);
  expect(recorded).toContain(WAN);
  // On the way back it leaves by the LAN.
  expect(recorded).toContain(ROUTER);
  expect(lan.must('ping', '-n', '-R', '-c', '1', '-W', '4', ROUTER)).toMatch(/192\.168\.88\.1\b[\s\S]*1 received/);
  const stamped = lan.must('ping', '-n', '-T', 'tsonly', '-c', '1', '-W', '4', SERVER);
  expect(stamped).toMatch(/TS:[\s\S]*1 received/);
  expect(lan.must('ping', '-n', '-T', 'tsandaddr', '-c', '1', '-W', '4', SERVER)).toContain(WAN);
});

test('a malformed option is answered with a parameter problem and goes no further', async () => {
  const problem = await seen('lan', 'icmp[0] == 12', () =>
    sendRaw(router.host('lan'), toServer([7, 7, 6, 0, 0, 0, 0], SERVER)),
  );
  expect(problem).toMatch(/192\.168\.88\.1 > 192\.168\.88\.10: ICMP parameter problem - octet 22/);
  const passed = await seen('wan', 'udp port 4002', () =>
    sendRaw(router.host('lan'), toServer([7, 7, 6, 0, 0, 0, 0], SERVER), toServer([7, 7, 4, 0, 0, 0, 0], SERVER)),
  );
  expect(passed.match(/RR [0-9.^]+/g)).toEqual([expect.stringContaining(WAN)]);
});

test('a source route is followed while accept-source-route is on', async () => {
  const lan = router.host('lan');
  const loose = toServer([131, 7, 4, ...addressBytes(SERVER)]);
  const strict = toServer([137, 7, 4, ...addressBytes(SERVER)]);
  const send = () => sendRaw(lan, loose);
  expect(await seen('wan', 'udp port 4002', send)).not.toContain('4002');
  await having({ 'accept-source-route': 'yes' }, async () => {
    const routed = await seen('wan', 'udp port 4002', send);
    expect(routed).toMatch(/LSRR/);
    expect(routed).toMatch(new RegExp(`> ${SERVER}\\.4002`));
    // The server is behind another router.
    const failed = await seen('lan', 'icmp', () => sendRaw(lan, strict));
    expect(failed).toMatch(/source route failed/);
  });
});

test('a host is redirected to the gateway of its network while send-redirects is on', async () => {
  const lan = router.host('lan');
  lan.must('ip', 'route', 'replace', '172.16.0.0/16', 'via', ROUTER);
  lan.must('sysctl', '-qw', 'net.ipv4.conf.all.accept_redirects=0', 'net.ipv4.conf.eth0.accept_redirects=0');
  const ping = (count: string) => () =>
    void lan.run('ping', '-n', '-I', SUBSCRIBER, '-c', count, '-i', '0.2', '-W', '1', BEHIND);
  const told = await seen('lan', 'icmp[0] == 5 or (icmp[0] == 8 and dst 172.16.0.1)', ping('3'));
  expect(told).toMatch(/192\.168\.88\.1 > 192\.168\.88\.20: ICMP redirect 172\.16\.0\.1 to host 192\.168\.88\.10/);
  await having({ 'send-redirects': 'no' }, async () => {
    expect(await seen('lan', 'icmp[0] == 5', ping('2'))).not.toContain('redirect');
  });
});

test('the router follows redirects while accept-redirects is on, secure ones to gateways that it knows', async () => {
  const lan = router.host('lan');
  const own = ipv4({ src: ROUTER, dst: BEHIND, protocol: UDP }, udp(4100, 4101, 'own'));
  const redirected = ipv4({ src: LAN, dst: ROUTER, protocol: ICMP }, redirect(GATEWAY, own));
  /** Whether the router asks for the other gateway after a redirect. */
  const follows = async (): Promise<boolean> => {
    const service = router.host('router').script(`
      import { createSocket } from 'node:dgram';
      const socket = createSocket('udp4');
      socket.bind(4100, '${ROUTER}', () => setInterval(() => socket.send('own', 4101, '${BEHIND}'), 100));`);
    try {
      await sleep(800);
      const asked = await seen('lan', `arp and host ${GATEWAY}`, () => sendRaw(lan, redirected));
      return /who-has 192\.168\.88\.77[\s\S]*tell 192\.168\.88\.1\b/.test(asked);
    } finally {
      await service.end('SIGTERM');
    }
  };
  expect(await follows()).toBe(false);
  await having({ 'accept-redirects': 'yes' }, async () => {
    expect(await follows()).toBe(false);
    await having({ 'secure-redirects': 'no' }, async () => {
      expect(await follows()).toBe(true);
    });
  });
});

test('icmp-rate-mask says which messages icmp-rate-limit is for', async () => {
  const lan = router.host('lan');
  await having({ 'icmp-rate-limit': '1000', 'icmp-rate-mask': '0x1' }, async () => {
    expect(lan.ping(ROUTER, 12)).toBeLessThan(9);
  });
  await having({ 'icmp-rate-limit': '1000' }, async () => {
    expect(lan.ping(ROUTER, 12)).toBe(12);
  });
});

test('fragments that wait have the memory that ipv4-high-fragment-thresh gives them', async () => {
  const lan = router.host('lan');
  const whole = udp(4201, 4202, 'x'.repeat(192));
  const header = { src: LAN, dst: SERVER, protocol: UDP } as const;
  /** The last fragment first: it waits for the ports, which the first one has. */
  const reversed = (ident: number) => [
    ipv4({ ...header, ident, fragment: [96, false] }, whole.subarray(96)),
    ipv4({ ...header, ident, fragment: [0, true] }, whole.subarray(0, 96)),
  ];
  const passed = async (ident: number) => {
    const text = await seen('wan', `dst ${SERVER} and udp and ip[6:2] & 0x3fff != 0`, () =>
      sendRaw(lan, ...reversed(ident)),
    );
    return text.match(/offset (0|96), flags/g)?.length ?? 0;
  };
  expect(await passed(0x3001)).toBe(2);
  await having({ 'ipv4-high-fragment-thresh': '0' }, async () => {
    expect(await passed(0x3002)).toBe(1);
  });
});

test('services of the router take cookies and timestamps as configured', async () => {
  const host = router.host('router');
  const lan = router.host('lan');
  const service = host.script(`
    import { createServer } from 'node:net';
    createServer((socket) => socket.end()).listen({ port: 4300, host: '0.0.0.0', backlog: 1 }, () => console.log('ready'));
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 500);`);
  await eventually(() => service.stdout.includes('ready'));
  const cookies = () => {
    const [names = '', values = ''] = host
      .must('cat', '/proc/net/netstat')
      .split('\n')
      .filter((line) => line.startsWith('TcpExt:'));
    return Number(values.split(' ')[names.split(' ').indexOf('SyncookiesSent')]);
  };
  /** Cookies that a flood from many addresses is answered with. */
  const flood = async (from: number): Promise<number> => {
    const before = cookies();
    const segments = Array.from({ length: 40 }, (_, index) => {
      const src = `192.168.88.${100 + index}`;
      return ipv4({ src, dst: ROUTER, protocol: TCP }, syn(src, ROUTER, from + index, 4300));
    });
    sendRaw(lan, ...segments);
    await sleep(700);
    return cookies() - before;
  };
  try {
    expect(await flood(20_000)).toBe(0);
    await having({ 'tcp-syncookies': 'yes' }, async () => {
      expect(await flood(30_000)).toBeGreaterThan(10);
    });
  } finally {
    await service.end('SIGKILL');
  }
  const timestamps = async () => {
    const text = await seen(
      'lan',
      'tcp src port 4301',
      () => void lan.run('curl', '-s', '-m', '3', `http://${ROUTER}:4301/`),
    );
    return /Flags \[S\.\][\s\S]*?TS val/.test(text.split('\n').slice(0, 3).join('\n'));
  };
  const other = host.script(`
    import { createServer } from 'node:http';
    createServer((_, response) => response.end('ok')).listen(4301, '0.0.0.0', () => console.log('ready'));`);
  await eventually(() => other.stdout.includes('ready'));
  try {
    expect(await timestamps()).toBe(true);
    await having({ 'tcp-timestamps': 'disabled' }, async () => {
      expect(await timestamps()).toBe(false);
      expect(host.must('sysctl', '-n', 'net.ipv4.tcp_timestamps').trim()).toBe('0');
    });
    await having({ 'tcp-timestamps': 'enabled' }, async () => {
      expect(host.must('sysctl', '-n', 'net.ipv4.tcp_timestamps').trim()).toBe('2');
    });
  } finally {
    await other.end('SIGTERM');
  }
});

test('without forwarding no fast path says that it is active', async () => {
  await having({ 'ip-forward': 'no' }, async () => {
    expect(router.host('lan').ping(SERVER, 2)).toBe(0);
    const handlers = await router.rest.list('/ip/settings/fast-path');
    const ofIpv4 = handlers.filter(({ name }) => !name?.startsWith('ipv6'));
    expect(ofIpv4.map(({ active }) => active)).toEqual(['false', 'false', 'false', 'false']);
    const { body } = await router.rest.request('GET', SETTINGS);
    expect(body).toMatchObject({
      'ipv4-fast-path-active': 'false',
      'ipv4-flow-cache-active': 'false',
      'ipv4-fasttrack-active': 'false',
    });
  });
  expect(router.host('lan').ping(SERVER, 2)).toBe(2);
});
