import { afterAll, beforeAll, expect, test } from 'vitest';
import { addHost, type Background, type Host, link, removeHost } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/**
 * A host beyond the router sends to all addresses of the network behind it, of which hardly any is a station's (RFC 6583):
 * far more neighbours are asked for than there is room for.
 */

const prefix = `tw${process.pid}s`;
const FAMILIES = [
  { menu: '/ip', router: ['10.1.0.1/24', '10.64.0.1/16'], wan: '10.1.0.2/24', hosts: '10.64.200', length: 16 },
  {
    menu: '/ipv6',
    router: ['2001:db8:1::1/64', '2001:db8:2::1/64'],
    wan: '2001:db8:1::2/64',
    hosts: '2001:db8:2:',
    length: 64,
  },
] as const;
const host = (family: (typeof FAMILIES)[number], number: number): string =>
  `${family.hosts}${family.menu === '/ip' ? '.' : ':'}${number}`;

let hosts: Host[] = [];
let wan: Host;
let lan: Host;
let router: Router;

/** Sends some 3,000 datagrams a second to each network, to one address after the other, and from ever other addresses. */
const FLOOD = `
  import { createSocket } from 'node:dgram';
  const sockets = [createSocket('udp4'), createSocket('udp6')];
  let number = 0;
  setInterval(() => {
    for (let at = 0; at < 30; at += 1) {
      number = (number + 1) % 40_000;
      sockets[0].send('x', 9, '10.64.' + (number >> 8) + '.' + (number & 255 || 1));
      sockets[1].send('x', 9, '2001:db8:2::7:' + number.toString(16));
    }
  }, 10);
  console.log('started');
`;

beforeAll(async () => {
  hosts = ['box', 'wan', 'lan'].map((name) => addHost(`${prefix}-${name}`, true));
  const [box] = hosts as [Host];
  [, wan, lan] = hosts as [Host, Host, Host];
  link(box, 'eth1', wan, 'eth0');
  link(box, 'eth2', lan, 'eth0');
  router = await newRouter({ inside: box, options: ['--ports', 'eth1,eth2', '--no-defaults'] }).up();
  for (const family of FAMILIES) {
    for (const [at, address] of family.router.entries()) {
      await router.rest.add(`${family.menu}/address`, { address, interface: `ether${at + 1}` });
    }
    const limits: Record<string, string> =
      family.menu === '/ip' ? {} : { 'min-neighbor-entries': '0', 'soft-max-neighbor-entries': '512' };
    await router.rest.command(`${family.menu}/settings/set`, { ...limits, 'max-neighbor-entries': '512' });
    const [own, other] = family.router.map((address) => address.split('/')[0] ?? '') as [string, string];
    wan.must('ip', 'address', 'add', family.wan, 'dev', 'eth0');
    wan.must(
      'ip',
      'route',
      'add',
      `${family.hosts}${family.menu === '/ip' ? '.0' : ':'}/${family.length}`.replace('.200.0/', '.0.0/'),
      'via',
      own,
    );
    lan.must('ip', 'address', 'add', `${host(family, 2)}/${family.length}`, 'dev', 'eth0');
    lan.must('ip', 'route', 'add', 'default', 'via', other);
    await eventually(() => wan.ping(host(family, 2), 1) === 1);
  }
});
afterAll(async () => {
  await dispose(router);
  for (const each of hosts) removeHost(each);
});

test('new hosts of a network are reached while all its addresses are asked for', async () => {
  const flood: Background = wan.script(FLOOD);
  try {
    const unanswered = async (menu: string): Promise<number> =>
      (await router.rest.list(menu)).filter((row) => row.status === 'incomplete' || row.status === 'failed').length;
    for (const menu of ['/ip/arp', '/ipv6/neighbor']) await eventually(async () => (await unanswered(menu)) > 100);
    for (const family of FAMILIES) {
      for (let number = 10; number < 14; number += 1) {
        lan.must('ip', 'address', 'add', `${host(family, number)}/${family.length}`, 'dev', 'eth0');
        // The first packet may be displaced by others that wait.
        expect(wan.ping(host(family, number), 5), host(family, number)).toBeGreaterThanOrEqual(3);
      }
      // Those that were known before are, too.
      expect(wan.ping(host(family, 2), 5)).toBe(5);
    }
  } finally {
    await flood.end('SIGKILL');
  }
});
