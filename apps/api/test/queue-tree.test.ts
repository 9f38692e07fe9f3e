import { connectionRecord } from '@tollway/dataplane-agent/records';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PART } from '../src/agent/queues.js';
import { Client } from './live-client.js';
import { Router } from './router.js';

const SIMPLE = '/queue/simple';
const TREE = '/queue/tree';
const TYPES = '/queue/type';
const MANGLE = '/ip/firewall/mangle';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const call = (method: string, path: string, body?: unknown) => router.rest(method, path, body);
const add = async (path: string, body: Record<string, unknown>) => (await call('PUT', path, body)).item;
const list = async (path: string) => (await call('GET', path)).rows;

afterEach(async () => {
  for (const path of [SIMPLE, TREE, MANGLE, TYPES]) {
    const ids = (await list(path)).filter((row) => row.default !== 'true').map((row) => row['.id']);
    if (ids.length > 0) expect((await call('POST', `${path}/remove`, { '.id': ids })).status).toBe(200);
  }
  if (router.peer !== undefined) router.peer.queues = Buffer.alloc(0);
});

const numberOf = (id: string | undefined): number => Number.parseInt(id?.slice(1) ?? '', 16);

/** A record of one part of a queue as one worker counts it: `first`, and so on, of the fields in their order. */
function record(id: string | undefined, part: number, first: number): Buffer {
  const bytes = Buffer.alloc(104);
  bytes.writeUInt32LE(numberOf(id), 0);
  bytes.writeUInt8(part, 6);
  for (let field = 0; field < 6; field += 1) bytes.writeBigUInt64LE(BigInt(first + field), 8 + 8 * field);
  bytes.writeUInt32LE(first + 6, 56);
  bytes.writeUInt32LE(first + 7, 60);
  for (let field = 0; field < 3; field += 1) bytes.writeBigUInt64LE(BigInt(first + 8 + field), 64 + 8 * field);
  bytes.writeUInt32LE(first + 11, 88);
  bytes.writeUInt32LE(first + 12, 92);
  bytes.writeBigUInt64LE(BigInt(first + 13), 96);
  return bytes;
}

function counted(...records: Buffer[]): void {
  if (router.peer === undefined) throw new Error('no peer');
  router.peer.queues = Buffer.concat(records);
}

describe('queue trees', () => {
  it('are made below global, an interface or a queue, with names made up and defaults', async () => {
    const made = await add(TREE, { parent: 'ether1', 'max-limit': '50M' });
    expect(made).toMatchObject({
      name: 'queue1',
      parent: 'ether1',
      'packet-mark': '',
      queue: 'default-small',
      priority: '8',
      'bucket-size': '0.1',
      'limit-at': '0',
      'max-limit': '50000000',
      'burst-limit': '0',
      'burst-threshold': '0',
      'burst-time': '0s',
      rate: '0',
      invalid: 'false',
      disabled: 'false',
    });
    const leaf = await add(TREE, { name: 'leaf', parent: 'queue1', 'packet-mark': 'a,no-mark', 'limit-at': '1M' });
    expect(router.peer?.active?.['tree-queues']?.map(({ parent }) => parent)).toEqual([
      { kind: 'interface', interface: expect.any(Number) },
      { kind: 'queue', row: numberOf(made['.id']) },
    ]);
    expect((await call('PATCH', `${TREE}/leaf`, { parent: 'global' })).item.parent).toBe('global');
    expect((await call('DELETE', `${TREE}/${leaf['.id']}`)).status).toBe(204);
  });

  it.each([
    ['no parent', {}, 'parent', /parent is required/],
    ['a parent that is nothing', { parent: 'nobody' }, 'parent', /nobody is none of global, q, ether1, ether2/],
    [
      'a name with a meaning',
      { parent: 'q', name: 'global' },
      'name',
      /a meaning of its own as parent of \/queue\/tree/,
    ],
    ['the name of an interface', { parent: 'q', name: 'ether2' }, 'name', /ether2 is an interface/],
    ['a name that is taken', { parent: 'global', name: 'q' }, 'name', /already have queue with such name: q/],
    ['a mark that is none', { parent: 'q', 'packet-mark': 'a,!b' }, 'packet-mark', /comma list of names/],
    ['rates of both directions', { parent: 'q', 'max-limit': '1M/2M' }, 'max-limit', /1M\/2M is not a rate/],
    ['a type that is none', { parent: 'q', queue: 'fast' }, 'queue', /fast is none of default, /],
  ])('%s is refused by name', async (_what, body, property, detail) => {
    await add(TREE, { name: 'q', parent: 'global' });
    const answer = await call('PUT', TREE, body);
    expect(answer.status).toBe(400);
    expect(answer.error.property).toBe(property);
    expect(answer.error.detail).toMatch(detail);
  });

  it('show what the data plane counts, of all workers', async () => {
    const [one, two] = [await add(TREE, { parent: 'global' }), await add(TREE, { parent: 'queue1' })];
    counted(record(one['.id'], PART.whole, 100), record(one['.id'], PART.whole, 1_000));
    const [first, second] = await list(TREE);
    expect(first).toMatchObject({
      bytes: '1100',
      packets: '1102',
      dropped: '1104',
      rate: '1106',
      'packet-rate': '1108',
      'queued-bytes': '1110',
      'queued-packets': '1112',
      'pcq-queues': '1114',
      borrows: '1116',
      lends: '1118',
      marked: '1120',
      'max-wait': '1011',
      'avg-wait': '1012',
      'out-of-order': '1126',
    });
    expect(second).toMatchObject({ '.id': two['.id'], bytes: '0', 'max-wait': '0' });
    await call('POST', `${TREE}/reset-counters`, { '.id': one['.id'] });
    expect(router.peer?.asked.findLast(({ op }) => op === 'reset-queue-counters')).toMatchObject({
      rows: [numberOf(one['.id'])],
    });
  });

  it('are sorted by what they count in the live feed, and looked at no further than shown', async () => {
    const names = ['a', 'b', 'c'];
    const ids = [];
    for (const name of names) ids.push((await add(TREE, { name, parent: 'global' }))['.id']);
    counted(...ids.map((id, index) => record(id, PART.whole, [20, 30, 10][index] ?? 0)));
    // Viewers share readings; this takes a fresh one.
    await list(TREE);
    const client = await Client.open(router.url);
    try {
      const sort = { by: 'rate', desc: true };
      const window = { menu: TREE, columns: ['name', 'rate'], sort, first: 0, count: 2 };
      client.send({ op: 'subscribe', id: 1, topic: 'menu', ...window });
      const snapshot = await client.next((message) => message.op === 'snapshot');
      expect(snapshot).toMatchObject({
        total: 3,
        rows: [
          { name: 'b', rate: '33' },
          { name: 'a', rate: '23' },
        ],
      });
    } finally {
      client.socket.close();
    }
  });
});

describe('parents', () => {
  it('are neither left nor renamed under their children without them', async () => {
    await add(SIMPLE, { name: 'top', target: '10.0.0.0/8' });
    await add(SIMPLE, { name: 'low', target: '10.0.0.1', parent: 'top' });
    const refused = await call('DELETE', `${SIMPLE}/top`);
    expect(refused.error.detail).toBe('failure: simple queue top is in use by /queue/simple low; change that first');
    await call('POST', `${SIMPLE}/disable`, { numbers: 'top' });
    expect((await call('DELETE', `${SIMPLE}/top`)).error.detail).toBe(refused.error.detail);
    await call('POST', `${SIMPLE}/enable`, { numbers: 'top' });
    await call('PATCH', `${SIMPLE}/top`, { name: 'peak' });
    expect((await list(SIMPLE)).map(({ parent }) => parent)).toEqual(['none', 'peak']);
    expect((await call('POST', `${SIMPLE}/remove`, { numbers: 'peak,low' })).status).toBe(200);
    await add(TREE, { name: 'top', parent: 'ether1' });
    await add(TREE, { name: 'low', parent: 'top' });
    expect((await call('DELETE', `${TREE}/top`)).error.detail).toMatch(/queue top is in use by \/queue\/tree low/);
    const port = (await list('/interface'))[0]?.['.id'];
    await call('PATCH', `/interface/${port}`, { name: 'uplink' });
    expect((await list(TREE)).map(({ parent }) => parent)).toEqual(['uplink', 'top']);
    await call('PATCH', `/interface/${port}`, { name: 'ether1' });
    expect((await call('PATCH', `/interface/${port}`, { name: 'low' })).error.detail).toMatch(/low is a queue tree/);
  });

  it('in a circle or too far up are refused', async () => {
    await add(SIMPLE, { name: 'l1', target: '10.0.0.0/8' });
    for (let level = 2; level <= 8; level += 1) {
      await add(SIMPLE, { name: `l${level}`, target: '10.0.0.0/8', parent: `l${level - 1}` });
    }
    const refused = async (method: string, path: string, body: unknown) => {
      const answer = await call(method, path, body);
      expect(answer.status).toBe(400);
      expect(answer.error.property).toBe('parent');
      return answer.error.detail;
    };
    expect(await refused('PUT', SIMPLE, { target: '10.0.0.1', parent: 'l8' })).toMatch(/at most 8 levels/);
    expect(await refused('PATCH', `${SIMPLE}/l1`, { parent: 'l8' })).toBe(
      'value of parent: l8 leads back to l1; give a queue that is not below this one',
    );
    expect(await refused('PATCH', `${SIMPLE}/l1`, { parent: 'l1' })).toMatch(/l1 leads back to l1/);
    await add(SIMPLE, { name: 'other', target: '10.0.0.0/8' });
    expect(await refused('PATCH', `${SIMPLE}/l1`, { parent: 'other' })).toMatch(/at most 8 levels/);
    // Renamed in the same change, while the others still have the old name.
    expect(await refused('PATCH', `${SIMPLE}/l1`, { name: 'new', parent: 'l8' })).toMatch(/l8 leads back to new/);
    expect(await refused('PATCH', `${SIMPLE}/l1`, { name: 'new', parent: 'l2' })).toMatch(/l2 leads back to new/);
    expect(await refused('PATCH', `${SIMPLE}/l1`, { name: 'new', parent: 'l1' })).toMatch(/l1 leads back to new/);
    expect(await refused('PATCH', `${SIMPLE}/l1`, { name: 'new', parent: 'other' })).toMatch(/at most 8 levels/);
    expect((await call('PATCH', `${SIMPLE}/l8`, { parent: 'other' })).status).toBe(200);
    expect((await call('PATCH', `${SIMPLE}/l2`, { name: 'new', parent: 'other' })).item.parent).toBe('other');
    expect((await list(SIMPLE)).filter(({ parent }) => parent === 'new').map(({ name }) => name)).toEqual(['l3']);
  });

  it('that are switched off take their children with them', async () => {
    await add(SIMPLE, { name: 'top', target: '10.0.0.0/8' });
    await add(SIMPLE, { name: 'low', target: '10.0.0.1', parent: 'top' });
    await call('POST', `${SIMPLE}/disable`, { numbers: 'top' });
    expect((await list(SIMPLE))[1]).toMatchObject({ invalid: 'true', '.about': 'parent: top is disabled' });
    expect(router.peer?.active?.['simple-queues']).toEqual([]);
    await call('POST', `${SIMPLE}/enable`, { numbers: 'top' });
    expect((await list(SIMPLE))[1]).toMatchObject({ invalid: 'false' });
  });
});

describe('simple queues', () => {
  it('show both directions together: their total, or what both count', async () => {
    const [one, two] = [await add(SIMPLE, { target: '10.0.0.1' }), await add(SIMPLE, { target: '10.0.0.2' })];
    counted(
      ...[PART.upload, PART.download, PART.total].map((part) => record(one['.id'], part, 100 * (part + 1))),
      record(two['.id'], PART.upload, 10),
      record(two['.id'], PART.download, 20),
    );
    const [first, second] = await list(SIMPLE);
    expect(first).toMatchObject({
      bytes: '100/200',
      'pcq-queues': '107/207',
      lends: '109/209',
      'max-wait': '111/211',
      'total-bytes': '300',
      'total-rate': '303',
      'total-pcq-queues': '307',
    });
    expect(second).toMatchObject({ 'total-bytes': '30', 'total-max-wait': '31', 'total-dropped': '34' });
  });

  it('follow the interfaces that they name', async () => {
    await add(SIMPLE, { target: 'ether2,10.0.0.1', dst: 'ether1' });
    const port = (await list('/interface'))[1]?.['.id'];
    await call('PATCH', `/interface/${port}`, { name: 'lan' });
    expect((await list(SIMPLE))[0]).toMatchObject({ target: 'lan,10.0.0.1/32', dst: 'ether1' });
    await call('PATCH', `/interface/${port}`, { name: 'ether2' });
  });

  it('have hints, which are also listed', async () => {
    await add(SIMPLE, { name: 'a', target: '10.0.0.0/24', 'limit-at': '1M/0' });
    await add(SIMPLE, { name: 'b', target: '10.0.0.7', 'max-limit': '5M' });
    const [a, b] = await list(SIMPLE);
    expect(a?.hint).toMatch(/^upload limit-at 1\.0 Mbps has no effect without a parent/);
    expect(b?.hint).toMatch(/^gets no packets: earlier queues have all of its targets/);
    expect((await list('/queue/lint')).map(({ queue, finding, menu }) => `${menu} ${queue} ${finding}`)).toEqual([
      '/queue/simple a limit-at-without-parent',
      '/queue/simple b shadowed',
    ]);
    await call('POST', `${SIMPLE}/disable`, { numbers: 'a' });
    expect(await list('/queue/lint')).toEqual([]);
    expect((await list(SIMPLE))[0]).not.toHaveProperty('hint');
  });
});

describe('queues of interfaces', () => {
  it('are there for each port, and take a type', async () => {
    const [first, second] = await list('/queue/interface');
    expect(first).toMatchObject({
      interface: 'ether1',
      queue: 'only-hardware-queue',
      'default-queue': 'only-hardware-queue',
      'active-queue': 'no-queue',
    });
    await call('PUT', TYPES, { name: 'fair', kind: 'fq-codel' });
    await add(TREE, { parent: 'ether2' });
    const path = `/queue/interface/${first?.['.id']}`;
    expect((await call('PATCH', path, { queue: 'fair' })).item).toMatchObject({ interface: 'ether1', queue: 'fair' });
    expect(router.peer?.active?.['interface-queues']).toEqual([
      { interface: numberOf(first?.['.id']), 'queue-type': expect.any(Number) },
    ]);
    expect((await call('DELETE', `${TYPES}/fair`)).error.detail).toMatch(/fair is in use by \/queue\/interface ether1/);
    await call('PATCH', `${TYPES}/fair`, { name: 'fairer' });
    counted(record(first?.['.id'], PART.interface, 100));
    const after = await list('/queue/interface');
    expect(after[0]).toMatchObject({ queue: 'fairer', bytes: '100', 'queued-packets': '106' });
    expect(after[1]).toMatchObject({ '.id': second?.['.id'], 'active-queue': 'queue-tree', bytes: '0' });
    expect((await call('PATCH', path, { queue: 'nothing' })).error.property).toBe('queue');
    expect((await call('PATCH', path, { queue: 'only-hardware-queue' })).status).toBe(200);
    expect(router.peer?.active?.['interface-queues']).toEqual([]);
    expect((await list('/interface/ethernet'))[0]).not.toHaveProperty('queue');
  });
});

describe('queue types', () => {
  it('show the settings of their kind, and take no others', async () => {
    const made = await add(TYPES, { name: 'm', kind: 'cake', 'cake-overhead-scheme': 'conservative,raw' });
    expect(made).toMatchObject({ 'cake-overhead-scheme': 'raw,convervative', 'cake-rtt': '100ms' });
    expect(Object.keys(made).filter((name) => /^(pcq|red|sfq|codel|fq)-/.test(name))).toEqual([]);
    const wrong = await call('PUT', TYPES, { name: 'n', kind: 'sfq', 'pcq-rate': '1M' });
    expect(wrong.error.detail).toBe('value of pcq-rate: applies only when kind is pcq');
    const red = await call('PUT', TYPES, { name: 'n', kind: 'red', 'red-min-threshold': '50' });
    expect(red.error).toMatchObject({ property: 'red-max-threshold' });
  });
});

describe('marks of connections', () => {
  it('are shown by name, also when no rule sets them any more', async () => {
    const rule = await add(MANGLE, {
      chain: 'prerouting',
      action: 'mark-connection',
      'new-connection-mark': 'voice',
    });
    const [mark] = router.peer?.active?.['mark-names'] ?? [];
    const at = connectionRecord;
    const connection = Buffer.alloc(at.size);
    connection.writeBigUInt64LE(7n, at.id);
    connection.set([6, 4], at.protocol);
    connection.writeUInt32LE(mark?.mark ?? 0, at.mark);
    if (router.peer !== undefined) router.peer.connections = connection;
    const marks = async () => (await list('/ip/firewall/connection')).map((row) => row['connection-mark']);
    expect(await marks()).toEqual(['voice']);
    const found = await call('GET', '/ip/firewall/connection?connection-mark=voice');
    expect(found.rows).toHaveLength(1);
    await call('DELETE', `${MANGLE}/${rule['.id']}`);
    expect(await marks()).toEqual(['voice']);
    if (router.peer !== undefined) router.peer.connections = Buffer.alloc(0);
  });
});

describe('the milliseconds of a queue', () => {
  /** A record as `ReplyBody::TokenBucket` lays it out; both directions count from their numbers. */
  function slot(ms: number, first: number): Buffer {
    const bytes = Buffer.alloc(64);
    bytes.writeBigUInt64LE(BigInt(ms), 0);
    for (const [at, base] of [
      [8, first],
      [36, first + 100],
    ] as const) {
      bytes.writeUInt32LE(base, at);
      bytes.writeUInt32LE(base + 1, at + 4);
      bytes.writeUInt32LE(base + 2, at + 8);
      bytes.writeBigInt64LE(BigInt(-base), at + 12);
      bytes.writeUInt32LE(base + 3, at + 20);
      bytes.writeUInt32LE(base + 4, at + 24);
    }
    return bytes;
  }
  const part = (first: number, wait = first) => ({
    bytes: first,
    dropped: first + 1,
    queued: first + 2,
    tokens: -first,
    wait: wait + 3,
    rate: 1_000 * (first + 4),
  });

  it('are reported once they are whole, of all workers together', async () => {
    const queue = await add(SIMPLE, { name: 'a', target: '10.0.0.1' });
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    // The last of them lies in the future: its workers may still write.
    peer.scope = (now) =>
      Buffer.concat([slot(now - 1_000, 10), slot(now - 999, 20), slot(now - 1_000, 5), slot(now, 7)]);
    const client = await Client.open(router.url);
    try {
      client.send({ op: 'subscribe', id: 3, topic: 'token-bucket', menu: SIMPLE, queue: 'a' });
      const first = await client.next(({ op }) => op === 'token-bucket');
      const nowMs = Number(first.nowMs);
      const [one, two] = first.slots as { ms: number }[];
      expect(first.slots).toEqual([
        {
          ms: one?.ms,
          // What was done is added up; the bucket is one.
          upload: { ...part(15), dropped: 17, queued: 19, wait: 13, rate: 14_000, tokens: -10 },
          download: { ...part(215), dropped: 217, queued: 219, wait: 113, rate: 114_000, tokens: -110 },
        },
        { ms: two?.ms, upload: part(20), download: part(120) },
      ]);
      expect((two?.ms ?? 0) - (one?.ms ?? 0)).toBe(1);
      // It was watched before: what the data plane remembers counts.
      expect(first.fromMs).toBe(one?.ms);
      peer.scope = () => Buffer.alloc(0);
      const next = await client.next(({ op, nowMs: later }) => op === 'token-bucket' && Number(later) > nowMs);
      expect(Number(next.nowMs)).toBeGreaterThan(nowMs);
      expect(next.fromMs).toBe(nowMs + 1);
      const asked = peer.asked.filter(({ op }) => op === 'token-bucket');
      expect(asked[0]).toEqual({ op: 'token-bucket', row: numberOf(queue['.id']), after: 0 });
      expect(asked.map(({ after }) => after)).toContain(nowMs);
      client.send({ op: 'unsubscribe', id: 3 });
    } finally {
      client.socket.close();
    }
  });

  it('of a queue that a browser has left again at once are not asked for', async () => {
    await add(SIMPLE, { name: 'left', target: '10.0.0.9', 'max-limit': '10M/10M' });
    const before = router.peer?.asked.length;
    const client = await Client.open(router.url);
    for (let id = 1; id <= 20; id += 1) {
      client.send({ op: 'subscribe', id, topic: 'token-bucket', menu: SIMPLE, queue: 'left' });
      client.send({ op: 'unsubscribe', id });
    }
    client.send({ op: 'subscribe', id: 21, topic: 'token-bucket', menu: SIMPLE, queue: 'left' });
    await client.next(({ id }) => id === 21);
    client.socket.close();
    const asked = router.peer?.asked.slice(before).filter(({ op, after }) => op === 'token-bucket' && after === 0);
    expect(asked?.length).toBeLessThan(5);
  });

  it('are reported for queues in which packets pass; for others it is reported why there are none', async () => {
    await add(SIMPLE, { name: 'line', target: '10.0.0.0/24', 'max-limit': '10M/10M' });
    const child = await add(SIMPLE, { name: 'desk', target: '10.0.0.1', parent: 'line' });
    await add(TREE, { name: 'up', parent: 'global', 'max-limit': '10M' });
    await add(TREE, { name: 'voice', parent: 'up' });
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    peer.scope = () => Buffer.alloc(0);
    const client = await Client.open(router.url);
    const asked = () => peer.asked.flatMap(({ op, row }) => (op === 'token-bucket' ? [row] : []));
    const reported = async (id: number, text: RegExp) =>
      expect((await client.next(({ op, id: of }) => op === 'error' && of === id)).detail).toMatch(text);
    try {
      const before = asked().length;
      client.send({ op: 'subscribe', id: 1, topic: 'token-bucket', menu: SIMPLE, queue: 'line' });
      await reported(1, /^Packets pass in the queues below this one/);
      client.send({ op: 'subscribe', id: 2, topic: 'token-bucket', menu: TREE, queue: 'up' });
      await reported(2, /^Packets pass in the queues below this one/);
      expect(asked()).toHaveLength(before);

      client.send({ op: 'subscribe', id: 3, topic: 'token-bucket', menu: SIMPLE, queue: 'desk' });
      await client.next(({ op, id }) => op === 'token-bucket' && id === 3);
      await call('POST', `${SIMPLE}/disable`, { numbers: 'line' });
      await reported(3, /^The queue does not work: parent: line is disabled\.$/);
      await call('POST', `${SIMPLE}/disable`, { numbers: 'desk' });
      await reported(3, /^The queue is disabled/);
      await call('PATCH', `${SIMPLE}/${child['.id']}`, { disabled: 'no', parent: 'none' });
      await client.next(({ op, id }) => op === 'token-bucket' && id === 3);
    } finally {
      client.socket.close();
    }
  });

  it('are shared by users: who watches more than another gives way to him', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const [at, name] of names.entries()) await add(SIMPLE, { name, target: `10.0.0.${at + 1}` });
    if (router.peer !== undefined) router.peer.scope = () => Buffer.alloc(0);
    await router.rest('PUT', '/user', { name: 'reader', group: 'read', password: 'long enough' });
    const as = `Basic ${Buffer.from('reader:long enough').toString('base64')}`;
    const [greedy, other] = [await Client.open(router.url, { authorization: as }), await Client.open(router.url)];
    const watch = (client: Client, id: number, queue: string) =>
      client.send({ op: 'subscribe', id, topic: 'token-bucket', menu: SIMPLE, queue });
    const heard = async (client: Client, id: number, op: string) =>
      await client.next((message) => message.id === id && message.op === op);
    try {
      for (const [id, name] of ['a', 'b', 'c', 'd'].entries()) {
        watch(greedy, id, name);
        await heard(greedy, id, 'token-bucket');
      }
      watch(other, 7, 'e');
      await heard(other, 7, 'token-bucket');
      expect((await heard(greedy, 3, 'error')).detail).toMatch(/^4 other queues are watched now/);
      // What both look at stays.
      watch(other, 8, 'a');
      await heard(other, 8, 'token-bucket');
      greedy.messages.length = 0;
      for (const id of [0, 1, 2]) await heard(greedy, id, 'token-bucket');
      expect(greedy.messages.filter(({ op, id }) => op === 'error' && id !== 3)).toEqual([]);
    } finally {
      greedy.socket.close();
      other.socket.close();
    }
  });

  it('are reported for four queues at a time, however many look at one of them', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const [at, name] of names.entries()) await add(SIMPLE, { name, target: `10.0.0.${at + 1}` });
    if (router.peer !== undefined) router.peer.scope = () => Buffer.alloc(0);
    const [one, other] = [await Client.open(router.url), await Client.open(router.url)];
    const watch = (client: Client, id: number, queue: string) =>
      client.send({ op: 'subscribe', id, topic: 'token-bucket', menu: SIMPLE, queue });
    const heard = async (client: Client, id: number, op: string) =>
      await client.next((message) => message.id === id && message.op === op);
    try {
      for (const [id, name] of ['a', 'b', 'c'].entries()) {
        watch(one, id, name);
        await heard(one, id, 'token-bucket');
      }
      watch(other, 1, 'a');
      await heard(other, 1, 'token-bucket');
      watch(other, 2, 'd');
      await heard(other, 2, 'token-bucket');
      watch(other, 3, 'e');
      expect((await heard(other, 3, 'error')).detail).toMatch(/^4 other queues are watched now/);
      // The other one still looks at it; only then there is a place.
      one.send({ op: 'unsubscribe', id: 0 });
      one.send({ op: 'unsubscribe', id: 1 });
      await heard(other, 3, 'token-bucket');
      watch(one, 4, 'b');
      await heard(one, 4, 'error');
      // Who is gone looks at nothing.
      other.socket.close();
      await heard(one, 4, 'token-bucket');
    } finally {
      one.socket.close();
      other.socket.close();
    }
  });

  it('are asked of the data plane once for all who look at a queue', async () => {
    await add(SIMPLE, { name: 'a', target: '10.0.0.1' });
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    peer.scope = () => Buffer.alloc(0);
    const client = await Client.open(router.url);
    try {
      for (let id = 0; id < 16; id += 1)
        client.send({ op: 'subscribe', id, topic: 'token-bucket', menu: SIMPLE, queue: 'a' });
      await client.next(({ op, id }) => op === 'token-bucket' && id === 15);
      const asked = () => peer.asked.filter(({ op }) => op === 'token-bucket').length;
      const before = asked();
      client.messages.length = 0;
      for (let n = 0; n < 5; n += 1) await client.next(({ op, id }) => op === 'token-bucket' && id === 15);
      // Each of them would ask five times.
      expect(asked() - before).toBeLessThan(5 * 8);
    } finally {
      client.socket.close();
    }
  });

  it('that were reported to nobody are a gap', async () => {
    await add(SIMPLE, { name: 'a', target: '10.0.0.1' });
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    const client = await Client.open(router.url);
    try {
      peer.scope = () => Buffer.alloc(0);
      client.send({ op: 'subscribe', id: 1, topic: 'token-bucket', menu: SIMPLE, queue: 'a' });
      const first = await client.next(({ op }) => op === 'token-bucket');
      expect(first.fromMs).toBe(first.nowMs);
      // Answers that stay out for longer than the data plane remembers.
      peer.clockNs += 9_000_000_000n;
      const late = await client.next(
        ({ op, nowMs }) => op === 'token-bucket' && Number(nowMs) > Number(first.nowMs) + 9_000,
      );
      expect(late.fromMs).toBe(late.nowMs);
      // A queue that cannot be watched for a while.
      await call('POST', `${SIMPLE}/disable`, { numbers: 'a' });
      const { nowMs } = client.messages.findLast(({ op }) => op === 'token-bucket') ?? late;
      await client.next(({ op }) => op === 'error');
      await call('POST', `${SIMPLE}/enable`, { numbers: 'a' });
      const again = await client.next(({ op }) => op === 'token-bucket');
      expect(again.fromMs).toBe(again.nowMs);
      expect(Number(again.fromMs)).toBeGreaterThan(Number(nowMs) + 1);
    } finally {
      client.socket.close();
    }
  });

  it('of a tree have one direction, and errors say what is wrong', async () => {
    await add(TREE, { name: 't', parent: 'global' });
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    peer.scope = (now) => slot(now - 500, 10);
    const client = await Client.open(router.url);
    try {
      client.send({ op: 'subscribe', id: 1, topic: 'token-bucket', menu: TREE, queue: 't' });
      const { slots } = await client.next(({ op }) => op === 'token-bucket');
      expect(slots).toEqual([{ ms: expect.any(Number), upload: part(10) }]);
      client.send({ op: 'subscribe', id: 2, topic: 'token-bucket', menu: SIMPLE, queue: '*FFFFF' });
      expect(await client.next(({ op, id }) => op === 'error' && id === 2)).toMatchObject({
        detail: 'there is no queue *FFFFF in /queue/simple',
      });
      client.send({ op: 'subscribe', id: 4, topic: 'token-bucket', menu: '/interface', queue: 'x' });
      expect(await client.next(({ op, id }) => op === 'error' && id === 4)).toMatchObject({
        detail: 'menu must be /queue/simple or /queue/tree',
      });
    } finally {
      client.socket.close();
    }
  });
});
