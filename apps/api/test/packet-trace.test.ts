import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TracedPacket } from '../src/agent/messages.js';
import type { AgentPeer } from './agent-peer.js';
import { Client } from './live-client.js';
import { Router } from './router.js';

const TRACE = '/tool/packet-trace';
const LINE = 'tcp 192.168.88.10:40000 → 1.1.1.1:443 in ether2';

let router: Router;
let peer: AgentPeer;
let rule = '';
/** Rows of ether1 and ether2. */
let ports: number[] = [];
const rowOf = (id = ''): number => Number.parseInt(id.slice(1), 16);

beforeAll(async () => {
  router = await Router.start();
  if (router.peer === undefined) throw new Error('no peer');
  peer = router.peer;
  rule = (await router.rest('PUT', '/ip/firewall/filter', { chain: 'forward', action: 'drop', comment: 'no web' })).id;
  await router.rest('PUT', '/ip/address', { address: '192.168.88.1/24', interface: 'ether2' });
  ports = (await router.rest('GET', '/interface/ethernet')).rows.map((row) => rowOf(row['.id']));
});
afterAll(() => router.close());

const packet = (number: number, more: Partial<TracedPacket> = {}): TracedPacket => ({
  number,
  'time-ms': Date.UTC(2026, 2, 1, 12),
  worker: 0,
  'in-interface': ports[1] ?? 0,
  'out-interface': 0,
  protocol: 6,
  'src-address': '192.168.88.10',
  'dst-address': '1.1.1.1',
  'src-port': 40_000,
  'dst-port': 443,
  length: 84,
  segments: 1,
  fast: false,
  'slow-reason': 'new-connection',
  steps: [
    { stage: 'route', decision: 'forwarded by 203.0.113.1', rows: [0x8000_0001] },
    { stage: 'filter', decision: 'dropped', rows: [rowOf(rule)] },
  ],
  outcome: 'dropped',
  'drop-reason': 'filter-drop',
  ...more,
});

beforeEach(() => {
  peer.routeTo = () => ({ local: false, interface: null });
  peer.traced = [packet(1)];
  peer.asked.length = 0;
});
const asked = (op: string) => peer.asked.find((body) => body.op === op);

describe('a dry run', () => {
  it('describes the packet of one line and tells each stage with its rules', async () => {
    const { rows } = await router.rest('POST', `${TRACE}/dry-run`, { packet: LINE });
    expect(asked('dry-run')?.packet).toEqual({
      'in-interface': ports[1],
      protocol: 6,
      'src-address': '192.168.88.10',
      'dst-address': '1.1.1.1',
      'src-port': 40_000,
      'dst-port': 443,
      'icmp-type': 8,
      'icmp-code': 0,
      'tcp-flags': 2,
      length: 84,
      ttl: 64,
    });
    expect(rows).toEqual([
      {
        time: expect.stringMatching(/^2026-03-01/),
        'in-interface': 'ether2',
        protocol: 'tcp',
        'src-address': '192.168.88.10',
        'src-port': '40000',
        'dst-address': '1.1.1.1',
        'dst-port': '443',
        length: '84',
        path: 'slow',
        'slow-path-reason': 'new-connection',
        outcome: 'dropped',
        'drop-reason': 'filter-drop',
        rules: `*80000001,${rule}`,
        steps: [
          'route: forwarded by 203.0.113.1 [*80000001 made by the router]',
          `filter: dropped [${rule} #0 forward: drop (no web)]`,
        ].join('\n'),
      },
    ]);
  });

  it('counts the rule that shows fasttrack counters, as the list of rules does', async () => {
    peer.fasttracked = { all: 1, ipv6: 0 };
    try {
      const { rows } = await router.rest('POST', `${TRACE}/dry-run`, { packet: LINE });
      expect(rows[0]?.steps).toContain(`${rule} #1 forward: drop (no web)`);
      const listed = (await router.rest('GET', '/ip/firewall/filter')).rows;
      expect(listed.findIndex((row) => row['.id'] === rule)).toBe(1);
    } finally {
      peer.fasttracked = { all: 0, ipv6: 0 };
    }
  });

  it('takes properties by themselves, which stand before those of the line', async () => {
    const more = { packet: LINE, 'dst-port': '80', 'tcp-flags': 'ack,rst', ttl: 3, '.proplist': 'outcome' };
    const { rows } = await router.rest('POST', `${TRACE}/dry-run`, more);
    expect(asked('dry-run')?.packet).toMatchObject({ 'dst-port': 80, 'tcp-flags': 20, ttl: 3 });
    expect(rows).toEqual([{ outcome: 'dropped' }]);
  });

  it('names a row once that several stages have asked', async () => {
    const steps = [...packet(1).steps, { stage: 'queue', decision: 'sent', rows: [rowOf(rule)] }];
    peer.traced = [packet(1, { steps })];
    const { rows } = await router.rest('POST', `${TRACE}/dry-run`, { packet: LINE });
    expect(rows[0]?.rules).toBe(`*80000001,${rule}`);
  });

  it('calls rules that mark and queues of trees by what they are', async () => {
    const marking = { chain: 'forward', action: 'mark-packet', 'new-packet-mark': 'voice', comment: 'calls' };
    const { id: mark } = await router.rest('PUT', '/ip/firewall/mangle', marking);
    const { id: queue } = await router.rest('PUT', '/queue/tree', { name: 'uplink', parent: 'ether1' });
    peer.traced = [
      packet(1, {
        steps: [
          { stage: 'mangle', decision: 'gets packet mark voice', rows: [rowOf(mark)] },
          { stage: 'queue', decision: 'passed its queue at once', rows: [rowOf(queue)] },
        ],
      }),
    ];
    const { rows } = await router.rest('POST', `${TRACE}/dry-run`, { packet: LINE, '.proplist': 'steps' });
    expect(rows[0]?.steps?.split('\n')).toEqual([
      `mangle: gets packet mark voice [${mark} #0 forward: mark-packet (calls)]`,
      `queue: passed its queue at once [${queue} uplink]`,
    ]);
  });

  it('says that a rule which only logs has decided nothing', async () => {
    const log = { chain: 'forward', action: 'log', comment: 'seen' };
    const { id } = await router.rest('PUT', '/ip/firewall/filter', { ...log, 'place-before': rule });
    const steps = async (decision: string, rows: number[]) => {
      peer.traced = [packet(1, { steps: [{ stage: 'filter', decision, rows }] })];
      return (await router.rest('POST', `${TRACE}/dry-run`, { packet: LINE, '.proplist': 'steps' })).rows[0]?.steps;
    };
    const logged = `logged by ${id} #0 forward: log (seen)`;
    expect(await steps('accepted', [rowOf(id)])).toBe(`filter: accepted: no rule decided otherwise [${logged}]`);
    expect(await steps('accepted', [])).toBe('filter: accepted: no rule decided otherwise');
    expect(await steps('dropped', [rowOf(id), rowOf(rule)])).toBe(
      `filter: dropped [${logged}; ${rule} #1 forward: drop (no web)]`,
    );
    await router.rest('DELETE', `/ip/firewall/filter/${id}`);
  });

  it('says that a rule which marks connections for fasttrack has decided nothing', async () => {
    const rule = { chain: 'forward', action: 'fasttrack-connection', comment: 'fast' };
    const { id } = await router.rest('PUT', '/ip/firewall/filter', rule);
    peer.traced = [packet(1, { steps: [{ stage: 'filter', decision: 'accepted', rows: [rowOf(id)] }] })];
    const { rows } = await router.rest('POST', `${TRACE}/dry-run`, { packet: LINE, '.proplist': 'steps' });
    expect(rows[0]?.steps).toMatch(
      /^filter: accepted: no rule decided otherwise \[fasttracked by \*\w+ #\d+ forward: fasttrack-connection \(fast\)\]$/,
    );
    await router.rest('DELETE', `/ip/firewall/filter/${id}`);
  });

  it('of a packet of IPv6 is by default an echo request of ICMPv6', async () => {
    peer.routeTo = () => ({ local: false, interface: ports[1] ?? 0 });
    await router.rest('POST', `${TRACE}/dry-run`, { packet: '2001:DB8::1 -> 2001:db8::2' });
    const echo = { protocol: 58, 'icmp-type': 128, 'src-address': '2001:db8::1', 'dst-address': '2001:db8::2' };
    expect(asked('dry-run')?.packet).toMatchObject({ 'in-interface': ports[1], ...echo });
    expect(asked('route-to')).toMatchObject({ address: '2001:db8::1' });
    peer.asked.length = 0;
    await router.rest('POST', `${TRACE}/dry-run`, { packet: 'udp [2001:db8::1]:40000 -> [2001:db8::2]:53 in ether2' });
    expect(asked('dry-run')?.packet).toMatchObject({ protocol: 17, 'src-port': 40_000, 'dst-port': 53 });
  });

  it('of a packet of the router itself has no incoming interface', async () => {
    peer.routeTo = (address) => ({ local: address === '192.168.88.1', interface: ports[1] ?? 0 });
    await router.rest('POST', `${TRACE}/dry-run`, { packet: '192.168.88.1 -> 192.168.88.10' });
    expect(asked('dry-run')?.packet).toMatchObject({ 'in-interface': null, protocol: 1, 'icmp-type': 8 });
  });

  it.each([
    [{ packet: 'tcp 1.2.3.4' }, 'packet', 'tcp 1.2.3.4 is not a packet such as tcp'],
    [{ 'src-address': '10.0.0.1' }, 'dst-address', 'an IPv4 address a.b.c.d or an IPv6 address; or give packet'],
    [{ packet: '2001:db8::1 -> 10.0.0.1' }, 'dst-address', '10.0.0.1 is not of the family of 2001:db8::1'],
    [{ 'src-address': '2001:db8::/64', 'dst-address': '2001:db8::1' }, 'src-address', 'takes one address'],
    [{ 'src-address': '10.0.0.1/8', 'dst-address': '10.0.0.2' }, 'src-address', 'give 10.0.0.0/8'],
    [{ packet: LINE, 'src-address': '10.0.0.0/8' }, 'src-address', 'a dry run takes one address'],
    [{ packet: LINE, protocol: 'gre' }, 'dst-port', 'only if protocol is tcp or udp'],
    [{ packet: LINE, 'in-interface': 'ether9' }, 'in-interface', 'ether9 is none of ether1, ether2'],
    [{ packet: '9.9.9.9 -> 1.1.1.1' }, 'in-interface', 'no route leads to 9.9.9.9'],
    [{ packet: LINE, outcome: 'dropped' }, 'outcome', 'unknown parameter outcome'],
    [{ packet: LINE, ttl: '256' }, 'ttl', 'out of range (0..255)'],
  ])('%j is refused', async (args, property, words) => {
    const { status, error } = await router.rest('POST', `${TRACE}/dry-run`, args);
    expect(status).toBe(400);
    expect(error.property).toBe(property);
    expect(error.detail).toContain(words);
    expect(asked('dry-run')).toBeUndefined();
  });
});

describe('a live trace', () => {
  it('by REST ends with its time, and tells the packets that came', async () => {
    peer.traced = [packet(1), packet(2, { fast: true, outcome: 'forwarded' })];
    const args = { 'src-address': '192.168.88.0/24', dropped: 'yes', 'in-interface': 'ether2', duration: '1s' };
    const { rows } = await router.rest('POST', TRACE, args);
    expect(asked('start-trace')).toMatchObject({
      packets: 10,
      filter: {
        'src-address': { address: '192.168.88.0', 'prefix-len': 24 },
        'dst-address': null,
        protocol: null,
        'in-interface': ports[1],
        dropped: true,
      },
    });
    expect(rows.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['slow', 'dropped'],
      ['fast', 'forwarded'],
    ]);
    expect(peer.traces).toBe(0);
  });

  it('by REST tells packets in the order of their arrival, whenever they are reported', async () => {
    const ms = (more: number) => ({ 'time-ms': Date.UTC(2026, 2, 1, 12) + more });
    peer.traced = [packet(1, { ...ms(7), length: 107 }), packet(2, { ...ms(3), length: 103 })];
    const { rows } = await router.rest('POST', TRACE, { packets: '2', duration: '1s', '.proplist': 'length' });
    expect(rows).toEqual([{ length: '103' }, { length: '107' }]);
  });

  it('ends for another user who has fewer, when as many run as can be', async () => {
    await router.rest('PUT', '/user', { name: 'reader', group: 'read', password: 'long enough' });
    const as = `Basic ${Buffer.from('reader:long enough').toString('base64')}`;
    const greedy = await Client.open(router.url, { authorization: as });
    const follow = (id: number) =>
      greedy.send({ op: 'subscribe', id, topic: 'trace', arguments: { protocol: 'udp', packets: '100' } });
    try {
      for (const id of [1, 2, 3, 4]) {
        follow(id);
        await greedy.next((message) => message.id === id && message.op === 'trace');
      }
      follow(5);
      const refused = await greedy.next(({ id, op }) => id === 5 && op === 'error');
      expect(refused.detail).toMatch(/as many traces run already as can be/);
      const over = await router.request('POST', `/rest${TRACE}`, { packets: '1' }, { authorization: as });
      expect([over.status, over.error.detail]).toEqual([429, refused.detail]);
      const { status, rows } = await router.rest('POST', TRACE, { packets: '1', duration: '1s' });
      expect([status, rows.length]).toEqual([200, 1]);
      const ended = await greedy.next(({ id, op }) => id === 4 && op === 'error');
      expect(ended.detail).toMatch(/the trace has ended for one of another user/);
    } finally {
      greedy.socket.close();
    }
    await expect.poll(() => peer.traces, { timeout: 30_000 }).toBe(0);
  });

  it('of a browser tells packets as they come, with rows as links, and ends with its window', async () => {
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 3, topic: 'trace', arguments: { protocol: 'tcp', packets: '1000' } });
    const first = await client.next((m) => m.op === 'trace');
    expect(first).toMatchObject({ id: 3, done: false, lost: 0 });
    expect(first.packets).toMatchObject([
      {
        number: 1,
        in: 'ether2',
        out: '',
        src: '192.168.88.10:40000',
        dst: '1.1.1.1:443',
        fast: false,
        slowReason: 'new-connection',
        dropReason: 'filter-drop',
        steps: [
          { stage: 'route', rows: [{ id: '*80000001', label: 'made by the router' }] },
          { stage: 'filter', rows: [{ id: rule, menu: '/ip/firewall/filter', label: '#0 forward: drop (no web)' }] },
        ],
      },
    ]);
    peer.traced = [...peer.traced, packet(2)];
    expect((await client.next((m) => m.op === 'trace')).packets).toMatchObject([{ number: 2 }]);
    expect(peer.traces).toBe(1);
    client.socket.close();
    await expect.poll(() => peer.traces).toBe(0);
  });

  it('of which a browser has left many at once ask the data plane for one dry run at most', async () => {
    const client = await Client.open(router.url);
    peer.delayMs = 400;
    for (let id = 1; id <= 20; id += 1) {
      client.send({ op: 'subscribe', id, topic: 'trace', dry: true, arguments: { packet: LINE } });
      client.send({ op: 'unsubscribe', id });
    }
    for (const id of [21, 22])
      client.send({ op: 'subscribe', id, topic: 'trace', dry: true, arguments: { packet: LINE } });
    for (const id of [21, 22]) expect(await client.next((message) => message.id === id)).toMatchObject({ op: 'trace' });
    peer.delayMs = 0;
    client.socket.close();
    expect(peer.asked.filter(({ op }) => op === 'dry-run').length).toBeLessThanOrEqual(3);
  });

  it('and a dry run of a browser say what is wrong with their words', async () => {
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 4, topic: 'trace', dry: true, arguments: { packet: 'nonsense' } });
    expect(await client.next((m) => m.op === 'error')).toMatchObject({ id: 4, property: 'packet' });
    // No packet could ever be like that.
    const words = { protocol: 'icmp', 'dst-port': '443' };
    client.send({ op: 'subscribe', id: 6, topic: 'trace', dry: false, arguments: words });
    expect(await client.next((m) => m.op === 'error' && m.id === 6)).toMatchObject({ property: 'dst-port' });
    client.send({ op: 'subscribe', id: 5, topic: 'trace', dry: true, arguments: { packet: LINE } });
    expect(await client.next((m) => m.op === 'trace')).toMatchObject({ id: 5, done: true, packets: [{ number: 1 }] });
    client.socket.close();
  });
});
