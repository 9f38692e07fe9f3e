import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Capture } from './capture.ts';
import type { Background, Host } from './netns.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** Broadcast and multicast between services in the router namespace and hosts, by real programs. */

const ALL = '255.255.255.255';
let router: Router;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tollway-groups-'));
  // FRR's programs run as a user of their own.
  chmodSync(folder, 0o755);
  router = await newRouter().up();
});
afterAll(async () => {
  await dispose(router);
  rmSync(folder, { recursive: true, force: true });
});

/** The device that stands for an interface of the router in its namespace. */
function tapOf(port: string): string {
  const [, device] = /^\d+: ([^:@]+)/.exec(router.host('router').must('ip', '-o', 'link', 'show', 'dev', port)) ?? [];
  if (device === undefined) throw new Error(`no device for ${port}`);
  return device;
}

function fileIn(name: string, text: string, mode = 0o644): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

test.each([
  { by: 'broadcast', server: ['--dhcp-broadcast'], client: ['-B'] },
  // To the station that has no address yet: dnsmasq names it to the kernel (RFC 2131 §4.1).
  { by: 'unicast', server: [], client: [] },
])('a dnsmasq in the router namespace gives hosts of two links their addresses by $by', async (way) => {
  const links = [
    { host: 'lan', port: 'ether2', network: '192.168.88' },
    { host: 'lan2', port: 'ether3', network: '192.168.89' },
  ] as const;
  const server = router
    .host('router')
    .start(
      'dnsmasq',
      ...['--keep-in-foreground', '--conf-file=/dev/null', '--user=root', '--port=0', '--no-ping', '--log-facility=-'],
      ...[...way.server, '--dhcp-authoritative', '--log-dhcp', '--pid-file', '--leasefile-ro'],
      ...links.map(({ port }) => `--interface=${tapOf(port)}`),
      ...links.map(({ network }) => `--dhcp-range=${network}.100,${network}.150,255.255.255.0,1h`),
    );
  const script = fileIn('udhcpc', '#!/bin/sh\n[ "$1" = bound ] && echo "bound $ip from $serverid"\nexit 0\n', 0o755);
  try {
    await eventually(() => server.stderr.includes('DHCP, IP range') || server.exited);
    for (const { host, network } of links) {
      const others = (['lan', 'lan2', 'wan'] as const).filter((other) => other !== host);
      const [asked, ...elsewhere] = await Promise.all(
        [host, ...others].map((name) => Capture.start(router.host(name), 'udp port 67 or udp port 68')),
      );
      const client = router
        .host(host)
        .run('udhcpc', '-f', '-q', '-n', ...way.client, '-i', 'eth0', '-t', '10', '-T', '1', '-s', script);
      const seen = `${client.stdout}${client.stderr}${server.stdout}${server.stderr}`;
      expect(client.stdout, seen).toMatch(new RegExp(`^bound ${network}\\.1\\d\\d from ${network}\\.1$`, 'm'));
      const replies = (await asked?.end()) ?? [];
      // An offer and an acknowledgement, at least.
      expect(replies.length, seen).toBeGreaterThanOrEqual(2);
      for (const { source, destination, sourcePort, destinationPort } of replies) {
        expect({ source, destination, sourcePort, destinationPort }).toEqual({
          source: `${network}.1`,
          destination: way.by === 'broadcast' ? ALL : expect.stringMatching(new RegExp(`^${network}\\.1\\d\\d$`)),
          sourcePort: 67,
          destinationPort: 68,
        });
      }
      for (const capture of elsewhere) expect(await capture.end(), seen).toEqual([]);
    }
    // A broadcast is no connection that had an answer.
    const connections = await router.rest.list('/ip/firewall/connection');
    const toAll = connections.filter((row) => row['dst-address']?.startsWith(ALL) === true);
    expect(toAll.length).toBeGreaterThan(0);
    for (const row of toAll) expect(row, JSON.stringify(row)).toMatchObject({ 'seen-reply': 'false' });
  } finally {
    await server.end('SIGTERM');
  }
});

test('OSPF of FRR in the router namespace is heard on its link and hears its neighbour', async () => {
  const lan = router.host('lan');
  const dump = lan.start('tcpdump', '-n', '-l', '-v', '-i', 'eth0', '-Q', 'in', 'proto', '89');
  const running: Background[] = [];
  try {
    await eventually(() => dump.stderr.includes('listening on'));
    running.push(...startOspf('router', router.host('router'), tapOf('ether2'), '10.255.0.1'));
    await eventually(() => /192\.168\.88\.1 > 224\.0\.0\.5: OSPFv2, Hello/.test(dump.stdout), 90_000);
    running.push(...startOspf('lan', lan, 'eth0', '10.255.0.2'));
    // The neighbours in a hello are those whose hellos arrive.
    await eventually(() => /Neighbor List:\s+10\.255\.0\.2/.test(dump.stdout), 90_000).catch(() => {
      throw new Error(dump.stdout + running.map(({ stdout, stderr }) => stdout + stderr).join(''));
    });
    expect(dump.stdout).not.toMatch(/bad cksum/);
  } finally {
    await Promise.all(running.map((daemon) => daemon.end('SIGTERM')));
    await dump.end();
  }
});

/** zebra and ospfd of FRR with one active interface. */
function startOspf(name: string, host: Host, device: string, id: string): Background[] {
  const own = path.join(folder, name);
  mkdirSync(own);
  chmodSync(own, 0o777);
  const lines = [`interface ${device}`, ' ip ospf area 0', ' ip ospf hello-interval 1', ' ip ospf dead-interval 10'];
  const config = fileIn(`${name}.conf`, [...lines, 'router ospf', ` ospf router-id ${id}`, ''].join('\n'));
  const daemon = (program: string, configuration: string) =>
    host.start(
      `/usr/lib/frr/${program}`,
      ...['-f', configuration, '-i', path.join(own, `${program}.pid`), '--log', 'stdout', '-P', '0'],
      ...['-z', path.join(own, 'zserv'), '--vty_socket', own],
    );
  return [daemon('zebra', '/dev/null'), daemon('ospfd', config)];
}
