import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LONG_WRITES, PASSWORD, Router } from './router.js';

const QUEUES = '/queue/simple';
const TYPES = '/queue/type';

let router: Router;
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
});
afterAll(() => router.close());

const call = (method: string, path: string, body?: unknown) => router.rest(method, path, body);
const add = async (body: Record<string, unknown>) => (await call('PUT', QUEUES, body)).item;
const list = async (path = QUEUES): Promise<readonly Readonly<Record<string, string>>[]> =>
  (await call('GET', path)).rows;

afterEach(async () => {
  for (const path of [QUEUES, TYPES]) {
    const ids = (await list(path)).filter((row) => row.default !== 'true').map((row) => row['.id']);
    if (ids.length > 0) expect((await call('POST', `${path}/remove`, { '.id': ids })).status).toBe(200);
  }
  if (router.peer !== undefined) router.peer.queues = Buffer.alloc(0);
});

/** Records of a queue as `ReplyBody::Queues` lays them out, of upload and download; each counts from its number. */
function record(row: string, first: number): Buffer {
  return Buffer.concat([part(row, 0, first), part(row, 1, first + 10)]);
}

function part(row: string, number: number, first: number): Buffer {
  const bytes = Buffer.alloc(104);
  bytes.writeUInt32LE(Number.parseInt(row.slice(1), 16), 0);
  bytes.writeUInt8(number, 6);
  for (let field = 0; field < 6; field += 1) bytes.writeBigUInt64LE(BigInt(first + field), 8 + 8 * field);
  bytes.writeUInt32LE(first + 6, 56);
  bytes.writeBigUInt64LE(BigInt(first + 7), 96);
  return bytes;
}

describe('simple queues', () => {
  it('are made, changed and removed as Terraform does it, and the data plane gets them as numbers', async () => {
    const made = await call('PUT', QUEUES, { 'max-limit': '10M/20M', name: 'q1', target: '10.9.9.2/32' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'q1',
      target: '10.9.9.2/32',
      'max-limit': '10000000/20000000',
      queue: 'default-small/default-small',
      disabled: 'false',
      invalid: 'false',
      dynamic: 'false',
      rate: '0/0',
    });
    const id = made.id;
    const half = {
      'limit-at': 0,
      'burst-limit': 0,
      'burst-threshold': 0,
      'burst-time-ms': 0,
      'bucket-ms': 100,
      priority: 8,
      'queue-type': 0,
    };
    expect(router.peer?.active?.['queue-types']).toEqual([{ kind: 'pfifo', limit: 10 }]);
    expect(router.peer?.active?.['simple-queues']).toEqual([
      {
        row: Number.parseInt(id.slice(1), 16),
        targets: [{ address: '10.9.9.2', 'prefix-len': 32 }],
        dst: null,
        'packet-marks': [],
        parent: null,
        time: null,
        total: null,
        upload: { ...half, 'max-limit': 10_000_000 },
        download: { ...half, 'max-limit': 20_000_000 },
      },
    ]);
    expect((await call('GET', `${QUEUES}?.id=${id}`)).body).toHaveLength(1);
    const same = { 'max-limit': '10M/20M', name: 'q1', target: '10.9.9.2/32', disabled: 'no', comment: '' };
    expect((await call('PATCH', `${QUEUES}/${id}`, same)).item['max-limit']).toBe('10000000/20000000');
    expect((await call('PATCH', `${QUEUES}/q1`, { 'max-limit': '5M' })).item['max-limit']).toBe('5000000/5000000');
    expect((await call('DELETE', `${QUEUES}/${id}`)).status).toBe(204);
    expect(router.peer?.active?.['simple-queues']).toEqual([]);
  });

  it('have unique names, made up where none is given', async () => {
    expect((await add({ target: '10.0.0.1' })).name).toBe('queue1');
    const taken = await call('PUT', QUEUES, { target: '10.0.0.2', name: 'queue1' });
    expect(taken.status).toBe(400);
    expect(taken.body).toMatchObject({ property: 'name' });
    expect(taken.error.detail).toMatch(/already have queue with such name: queue1/);
    expect((await add({ target: '10.0.0.2', name: 'queue2' })).name).toBe('queue2');
    expect((await add({ target: '10.0.0.3' })).name).toBe('queue3');
    expect((await call('PATCH', `${QUEUES}/queue2`, { name: '' })).error.detail).toMatch(/^name cannot be unset/);
    expect((await call('PATCH', `${QUEUES}/queue3`, { name: 'queue1' })).status).toBe(400);
  });

  it.each([
    ['no target', {}, 'target', /target is required/],
    [
      'an unknown interface as target',
      { target: 'ether9' },
      'target',
      /target: ether9 is neither an address nor one of ether1, ether2/,
    ],
    [
      'one wrong target of several',
      { target: '10.0.0.1,10.0.0.300' },
      'target',
      /IPv4 and IPv6 prefixes and names of interfaces/,
    ],
    ['three halves', { target: '10.0.0.1', 'max-limit': '1M/2M/3M' }, 'max-limit', /as upload\/download/],
    ['a rate beyond all', { target: '10.0.0.1', 'max-limit': '1M/2T' }, 'max-limit', /at most 1T/],
    ['an unknown type', { target: '10.0.0.1', queue: 'default/fast' }, 'queue', /fast is none of default, /],
    ['statistics', { target: '10.0.0.1', bytes: '0/0' }, 'bytes', /read-only/],
    ['an unknown parent', { target: '10.0.0.1', parent: 'q1' }, 'parent', /parent: q1 is none of none/],
    ['a priority beyond all', { target: '10.0.0.1', priority: '9/1' }, 'priority', /1\.\.8/],
    ['a bucket beyond all', { target: '10.0.0.1', 'bucket-size': '11' }, 'bucket-size', /a number 0..10/],
    [
      'a name with a meaning',
      { target: '10.0.0.1', name: 'none' },
      'name',
      /meaning of its own as parent of \/queue\/simple/,
    ],
    ['what nobody has', { target: '10.0.0.1', weather: 'fine' }, 'weather', /unknown parameter weather/],
  ])('%s is refused by name', async (_what, body, property, detail) => {
    const answer = await call('PUT', QUEUES, body);
    expect(answer.status).toBe(400);
    expect(answer.error.property).toBe(property);
    expect(answer.error.detail).toMatch(detail);
    expect(await list()).toEqual([]);
  });

  it('take what clients send at its default, and change nothing by it', async () => {
    const made = await add({
      name: 'q',
      target: '10.0.0.1',
      parent: 'none',
      dst: '',
      'packet-marks': '',
      priority: '8',
      'limit-at': '0/0',
      'burst-limit': '0',
      'burst-time': '0s/0s',
      'bucket-size': '0.1/0.1',
      'total-queue': 'default-small',
      '!time': '',
    });
    expect(made).toMatchObject({ name: 'q', priority: '8/8', 'limit-at': '0/0', 'bucket-size': '0.1/0.1' });
    const before = router.peer?.active?.['simple-queues'];
    expect((await call('PATCH', `${QUEUES}/q`, { priority: '8/8', 'burst-time': '0s' })).status).toBe(200);
    expect(router.peer?.active?.['simple-queues']).toEqual(before);
    expect(before?.[0]).toMatchObject({ total: null, time: null, parent: null });
  });

  it('may be called like people, at length', async () => {
    const long = `${'a'.repeat(254)}z`;
    await add({ name: 'Doe, John', target: '10.0.0.0/8' });
    expect(await add({ name: long, target: '10.0.0.1', parent: 'Doe, John' })).toMatchObject({ parent: 'Doe, John' });
    expect((await call('PATCH', `${QUEUES}/Doe%2C%20John`, { 'max-limit': '5M' })).status).toBe(200);
    expect((await call('POST', `${QUEUES}/set`, { numbers: ['Doe, John', long], comment: 'both' })).status).toBe(200);
    await call('PATCH', `${QUEUES}/Doe%2C%20John`, { name: 'Doe, Jane' });
    expect((await list()).map(({ name, parent, comment }) => [name, parent, comment])).toEqual([
      ['Doe, Jane', 'none', 'both'],
      [long, 'Doe, Jane', 'both'],
    ]);
    const answer = await router.request(
      'POST',
      '/api/v1/queues/import',
      { csv: 'name,target,upload\n"Doe, Jane",10.0.0.0/8,7M\n' },
      { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` },
    );
    expect(answer.body).toMatchObject({ lines: [{ action: 'change', name: 'Doe, Jane' }] });
    for (const name of ['!a', '*a', `${long}z`, 'a\nb']) {
      expect((await call('PUT', QUEUES, { name, target: '10.0.0.2' })).body).toMatchObject({ property: 'name' });
    }
  });

  it('are kept in order, disabled and enabled like rules', async () => {
    const [a, b, c] = [await add({ name: 'a', target: '10.0.0.1' }), await add({ name: 'b', target: '10.0.0.2' }), ''];
    const first = await add({ name: 'first', target: '10.0.0.3', 'place-before': a['.id'] });
    await call('POST', `${QUEUES}/move`, { numbers: 'b', destination: first['.id'] });
    expect((await list()).map((row) => row.name)).toEqual(['b', 'first', 'a']);
    const rows = () =>
      (router.peer?.active?.['simple-queues'] ?? []).map(({ row }) => `*${row.toString(16).toUpperCase()}`);
    expect(rows()).toEqual([b['.id'], first['.id'], a['.id']]);
    await call('POST', `${QUEUES}/disable`, { '.id': [a['.id'], b['.id']] });
    expect(rows()).toEqual([first['.id']]);
    await call('POST', `${QUEUES}/enable`, { numbers: 'a,b' });
    expect(rows()).toEqual([b['.id'], first['.id'], a['.id']]);
    expect(c).toBe('');
  });

  it('show what the data plane counts', async () => {
    const [one, two] = [await add({ target: '10.0.0.1' }), await add({ target: '10.0.0.2', disabled: 'yes' })];
    if (router.peer !== undefined) router.peer.queues = record(one['.id'] ?? '', 100);
    const [first, second] = await list();
    expect(first).toMatchObject({
      bytes: '100/110',
      packets: '101/111',
      dropped: '102/112',
      rate: '103/113',
      'packet-rate': '104/114',
      'queued-bytes': '105/115',
      'queued-packets': '106/116',
      'out-of-order': '107/117',
      'total-out-of-order': '224',
    });
    expect(second).toMatchObject({ '.id': two['.id'], rate: '0/0', 'queued-packets': '0/0' });
    const some = await call('POST', `${QUEUES}/print`, { '.proplist': '.id,rate', '.query': ['>rate=1/1'] });
    expect(some.body).toEqual([{ '.id': one['.id'], rate: '103/113' }]);
  });

  it('show what all workers have counted together', async () => {
    const one = await add({ target: '10.0.0.1' });
    const id = one['.id'] ?? '';
    if (router.peer !== undefined) {
      router.peer.queues = Buffer.concat([record(id, 100), record('*FFFFFF', 1), record(id, 3000)]);
    }
    const [row] = await list();
    expect(row).toMatchObject({ bytes: '3100/3120', rate: '3106/3126', 'queued-packets': '3112/3132' });
  });

  it('have their counters reset', async () => {
    const [one, two] = [await add({ target: '10.0.0.1' }), await add({ target: '10.0.0.2' })];
    const asked = () => router.peer?.asked.findLast(({ op }) => op === 'reset-queue-counters');
    const [first, second] = [one, two].map((row) => Number.parseInt(row['.id']?.slice(1) ?? '', 16));
    expect((await call('POST', `${QUEUES}/reset-counters`, { '.id': one['.id'] })).body).toEqual([]);
    expect(asked()).toEqual({ op: 'reset-queue-counters', rows: [first] });
    expect((await call('POST', `${QUEUES}/reset-counters`, { numbers: `queue2,${one['.id']}` })).status).toBe(200);
    expect(asked()).toEqual({ op: 'reset-queue-counters', rows: [second, first] });
    expect((await call('POST', `${QUEUES}/reset-counters`, { numbers: 'queue2,queue3' })).status).toBe(400);
    expect((await call('POST', `${QUEUES}/reset-counters`, { numbers: '*FFFFFF' })).status).toBe(400);
    expect((await call('POST', `${QUEUES}/reset-counters-all`)).body).toEqual([]);
    expect(asked()).toEqual({ op: 'reset-queue-counters', rows: [first, second] });
  });
});

describe('queue types', () => {
  it('start with the built-in ones, whose names nobody else can have', async () => {
    expect((await list(TYPES)).map((row) => `${row.name} ${row.kind}`)).toEqual([
      'default pfifo',
      'ethernet-default pfifo',
      'wireless-default sfq',
      'synchronous-default red',
      'hotspot-default sfq',
      'pcq-upload-default pcq',
      'pcq-download-default pcq',
      'only-hardware-queue none',
      'multi-queue-ethernet-default mq-pfifo',
      'default-small pfifo',
    ]);
    expect((await call('GET', `${TYPES}?name=default-small`)).rows[0]).toMatchObject({ 'pfifo-limit': '10' });
    expect((await call('GET', `${TYPES}?name=pcq-upload-default`)).rows[0]).toMatchObject({
      'pcq-classifier': 'src-address',
      'pcq-limit': '50',
      'pcq-total-limit': '2000',
      'pcq-src-address-mask': '32',
      'pcq-dst-address6-mask': '128',
    });
    expect((await call('PUT', TYPES, { name: 'default', kind: 'pfifo' })).error.detail).toMatch(/such name: default/);
    expect((await call('PUT', TYPES, { name: 'up/down', kind: 'pfifo' })).body).toMatchObject({ property: 'name' });
  });

  it('that are built in can be set, and stay so', async () => {
    const builtin = async (name: string) => (await call('GET', `${TYPES}?name=${name}`)).rows;
    const names = async () => (await list(TYPES)).map((row) => row.name);
    const before = await names();
    const [small] = await builtin('default-small');
    await add({ name: 'q', target: '10.0.0.1', queue: 'default-small/pcq-download-default' });
    const set = await call('PATCH', `${TYPES}/default-small`, { name: 'default-small', 'pfifo-limit': '40' });
    expect(set.item).toEqual({ ...small, 'pfifo-limit': '40' });
    expect((await call('PATCH', `${TYPES}/${small?.['.id']}`, { 'pfifo-limit': '45' })).item).toMatchObject({
      '.id': small?.['.id'],
      'pfifo-limit': '45',
      default: 'true',
    });
    await call('POST', `${TYPES}/set`, { numbers: 'pcq-download-default', 'pcq-rate': '2M' });
    expect((await call('PATCH', `${TYPES}/default`, { kind: 'fq-codel' })).item).toMatchObject({ kind: 'fq-codel' });
    expect(router.peer?.active?.['queue-types']).toMatchObject([
      { kind: 'pfifo', limit: 45 },
      { kind: 'pcq', rate: 2_000_000, classifier: ['dst-address'] },
    ]);
    await router.shut();
    await router.open();
    await router.healthy();
    expect(await names()).toEqual(before);
    expect(await builtin('default-small')).toMatchObject([{ 'pfifo-limit': '45', default: 'true' }]);
    // Their ids are not given in turn.
    const next = await add({ name: 'next', target: '10.0.0.2', queue: 'default' });
    expect(Number.parseInt(next['.id']?.slice(1) ?? '', 16)).toBeLessThan(0x1_0000);
    expect((await call('PATCH', `${TYPES}/default`, { name: 'mine' })).error.detail).toMatch(
      /keeps its name, default$/,
    );
    expect((await call('DELETE', `${TYPES}/default`)).error.detail).toBe('failure: a builtin item can not be removed');
    expect((await call('PUT', TYPES, { name: 'default', kind: 'sfq' })).error.detail).toMatch(/such name: default/);
    // As they are at first nothing of them is stored.
    await call('PATCH', `${TYPES}/default-small`, { 'pfifo-limit': '10' });
    await call('PATCH', `${TYPES}/default`, { kind: 'pfifo' });
    await call('PATCH', `${TYPES}/pcq-download-default`, { '!pcq-rate': '' });
    expect(await builtin('default-small')).toEqual([small]);
    expect(await router.db.configRow.findMany({ where: { menu: TYPES } })).toEqual([]);
  });

  it('are followed when they are renamed, in each half', async () => {
    await call('PUT', TYPES, { name: 'long', kind: 'pfifo', 'pfifo-limit': '300' });
    await add({ name: 'down', target: '10.0.0.1', queue: 'default/long' });
    await add({ name: 'both', target: '10.0.0.2', queue: 'long' });
    await call('PATCH', `${TYPES}/long`, { name: 'longer' });
    expect((await list()).map((row) => row.queue)).toEqual(['default/longer', 'longer/longer']);
    const { 'queue-types': types, 'simple-queues': queues } = router.peer?.active ?? {};
    expect(queues?.map(({ download }) => types?.[download['queue-type'] ?? -1])).toEqual([
      { kind: 'pfifo', limit: 300 },
      { kind: 'pfifo', limit: 300 },
    ]);
  });

  it('stay while a queue names them', async () => {
    await call('PUT', TYPES, { name: 'long', kind: 'pfifo' });
    await add({ name: 'q', target: '10.0.0.1', queue: 'default/long' });
    const refused = await call('DELETE', `${TYPES}/long`);
    expect(refused.status).toBe(400);
    expect(refused.error.detail).toBe('failure: queue type long is in use by /queue/simple q; change that first');
    await call('PATCH', `${QUEUES}/q`, { queue: 'default' });
    expect((await call('DELETE', `${TYPES}/long`)).status).toBe(204);
  });
});
