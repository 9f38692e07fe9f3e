import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AddressListDump, EntryMemory } from '../src/agent/address-list-entries.js';
import type { AgentPeer } from './agent-peer.js';
import { Client } from './live-client.js';
import { LONG_WRITES, Router } from './router.js';

const LISTS = '/ip/firewall/address-list';
const NO_END = 0xffff_ffff;

interface Entry {
  readonly list: number;
  readonly address: readonly number[];
  readonly prefixLen?: number;
  readonly leftMs?: number;
  readonly ageS?: number;
}

/** Records as `ReplyBody::AddressListEntries` documents them. */
function packed(entries: readonly Entry[]): Buffer {
  const records = Buffer.alloc(entries.length * 32);
  for (const [index, { list, address, prefixLen = 32, leftMs = NO_END, ageS = 0 }] of entries.entries()) {
    const at = index * 32;
    records.writeUInt32LE(list, at);
    records[at + 4] = address.length === 4 ? 4 : 6;
    records[at + 5] = prefixLen;
    const bytes = address.length === 4 ? [...Array(10).fill(0), 255, 255, ...address] : address;
    records.set(bytes, at + 8);
    records.writeUInt32LE(leftMs, at + 24);
    records.writeUInt32LE(ageS, at + 28);
  }
  return records;
}

let router: Router;
let peer: AgentPeer;
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
  if (router.peer === undefined) throw new Error('no peer');
  peer = router.peer;
});
afterAll(() => router.close());
afterEach(() => {
  peer.entries = { lists: [], records: Buffer.alloc(0) };
});
const asked = (op: string) => peer.asked.findLast((body) => body.op === op);

describe('entries that rules added', () => {
  it('stand after those that are stored, with their time left and their creation', async () => {
    const stored = (await router.rest('PUT', LISTS, { list: 'bad', address: '10.0.0.0/8' })).item;
    peer.entries = {
      lists: ['seen', 'bad'],
      records: packed([
        { list: 1, address: [192, 0, 2, 7], leftMs: 299_400, ageS: 61 },
        { list: 0, address: [198, 51, 100, 0], prefixLen: 24 },
      ]),
    };
    const now = Date.now();
    const { rows } = await router.rest('GET', LISTS);
    expect(rows[0]).toEqual(stored);
    expect(rows.slice(1)).toEqual([
      {
        '.id': expect.stringMatching(/^\*8[0-9A-F]{21}$/),
        list: 'bad',
        address: '192.0.2.7',
        timeout: '4m59s',
        'creation-time': expect.any(String),
        disabled: 'false',
        dynamic: 'true',
      },
      {
        '.id': expect.any(String),
        list: 'seen',
        address: '198.51.100.0/24',
        'creation-time': expect.any(String),
        disabled: 'false',
        dynamic: 'true',
      },
    ]);
    const created = Date.parse(`${rows[1]?.['creation-time']?.replace(' ', 'T')}`);
    expect(Math.abs(created - (now - 61_000))).toBeLessThan(10_000);
    expect((await router.rest('GET', `${LISTS}?dynamic=yes&list=seen`)).rows).toEqual([rows[2]]);
    expect((await router.rest('GET', `${LISTS}/${rows[1]?.['.id']}`)).item).toMatchObject({ address: '192.0.2.7' });
    expect((await router.rest('POST', `${LISTS}/print`, { 'count-only': '' })).body).toEqual({ ret: '3' });
    const names = await router.request('GET', `/api/v1/values?menu=${LISTS}&property=list`, undefined, {
      authorization: `Basic ${Buffer.from('admin:correct horse').toString('base64')}`,
    });
    expect([...(names.body as string[])].sort()).toEqual(['bad', 'seen']);
    await router.rest('DELETE', `${LISTS}/${stored['.id']}`);
  });

  it('are removed by their ids, and cannot be changed', async () => {
    peer.entries = { lists: ['seen'], records: packed([{ list: 0, address: [192, 0, 2, 7] }]) };
    const [{ '.id': id = '' } = {}] = (await router.rest('GET', LISTS)).rows;
    for (const { status, error } of await Promise.all([
      router.rest('PATCH', `${LISTS}/${id}`, { address: '1.1.1.1' }),
      router.rest('POST', `${LISTS}/disable`, { '.id': id }),
    ])) {
      expect(status).toBe(400);
      expect(error.detail).toMatch(/^failure: the dynamic item \*[0-9A-F]+ can not be changed$/);
    }
    const stored = (await router.rest('PUT', LISTS, { list: 'bad', address: '10.0.0.0/8' })).id;
    const missing = await router.rest('POST', `${LISTS}/remove`, { '.id': `${stored},*8000003FFFFFFFFF` });
    expect(missing.status).toBe(400);
    expect((await router.rest('GET', `${LISTS}/${stored}`)).status).toBe(200);
    expect((await router.rest('POST', `${LISTS}/remove`, { '.id': `${id},${stored}` })).status).toBe(200);
    expect(asked('remove-address-list-entries')?.entries).toEqual([
      { list: 'seen', address: '192.0.2.7', 'prefix-len': 32, 'timeout-ms': 0 },
    ]);
    peer.entries = { lists: [], records: Buffer.alloc(0) };
    expect((await router.rest('GET', LISTS)).rows).toEqual([]);
    expect((await router.rest('DELETE', `${LISTS}/${id}`)).status).toBe(404);
    expect((await router.rest('POST', `${LISTS}/remove`, { '.id': `${id},${id}` })).status).toBe(400);
  });

  it('are removed with stored ones only when those can be', async () => {
    peer.entries = { lists: ['seen'], records: packed([{ list: 0, address: [192, 0, 2, 7] }]) };
    const stored = (await router.rest('PUT', LISTS, { list: 'bad', address: '10.0.0.0/8' })).id;
    const numbers = (await router.rest('GET', LISTS)).rows.map((row) => row['.id']);
    expect(numbers).toHaveLength(2);
    peer.asked.length = 0;
    peer.refuse = () => ({ message: 'no room' });
    const refused = await router.rest('POST', `${LISTS}/remove`, { numbers });
    expect(refused.error).toMatchObject({ error: 400, detail: 'failure: no room' });
    expect(asked('remove-address-list-entries')).toBeUndefined();
    peer.refuse = undefined;
    // The data plane ends after the commit: what is stored is gone, and the answer says so.
    peer.fatal = ['remove-address-list-entries'];
    const half = await router.rest('POST', `${LISTS}/remove`, { numbers });
    expect(half.error).toMatchObject({ error: 503, detail: expect.stringContaining('the stored items were removed') });
    peer.fatal = [];
    await router.healthy();
    expect((await router.rest('GET', `${LISTS}/${stored}`)).status).toBe(404);
    expect((await router.rest('POST', `${LISTS}/remove`, { numbers: numbers.slice(1) })).status).toBe(200);
  });

  it('of which some are gone by now are removed as far as they are there', async () => {
    const left = { list: 0, address: [192, 0, 2, 8], leftMs: 60_000 };
    peer.entries = { lists: ['seen'], records: packed([{ list: 0, address: [192, 0, 2, 7], leftMs: 1_000 }, left]) };
    const ids = (await router.rest('GET', LISTS)).rows.map((row) => row['.id'] ?? '');
    expect(ids).toHaveLength(2);
    peer.entries = { lists: ['seen'], records: packed([left]) };
    expect((await router.rest('POST', `${LISTS}/remove`, { '.id': ids.join() })).status).toBe(200);
    expect(asked('remove-address-list-entries')?.entries).toEqual([
      { list: 'seen', address: '192.0.2.8', 'prefix-len': 32, 'timeout-ms': 0 },
    ]);
    // Ids of another kind are none that were ever there.
    expect((await router.rest('POST', `${LISTS}/remove`, { '.id': `${ids[1]},*80` })).status).toBe(400);
    peer.entries = { lists: [], records: Buffer.alloc(0) };
    expect((await router.rest('GET', LISTS)).rows).toEqual([]);
  });

  it('reach a browser as they come, and go', async () => {
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 9, topic: 'menu', menu: LISTS, intervalMs: 200 });
    expect((await client.next((m) => m.op === 'snapshot')).total).toBe(0);
    peer.entries = { lists: ['seen'], records: packed([{ list: 0, address: [192, 0, 2, 7], leftMs: 5_000 }]) };
    expect(await client.next((m) => m.op === 'delta')).toMatchObject({
      total: 1,
      set: [{ list: 'seen', address: '192.0.2.7', timeout: '5s' }],
    });
    peer.entries = { lists: [], records: Buffer.alloc(0) };
    expect((await client.next((m) => m.op === 'delta')).total).toBe(0);
    client.socket.close();
  });
});

describe('an entry that is added with a timeout', () => {
  it('goes to the data plane and is not stored', async () => {
    const before = peer.revision;
    peer.entries = {
      lists: ['x'],
      records: packed([{ list: 0, address: [10, 1, 0, 0], prefixLen: 16, leftMs: 60_000 }]),
    };
    const { status, item } = await router.rest('PUT', LISTS, { list: 'x', address: '10.1.2.3/16', timeout: '1m' });
    expect(status).toBe(201);
    expect(item).toMatchObject({ list: 'x', address: '10.1.0.0/16', timeout: '1m', dynamic: 'true' });
    expect(asked('add-address-list-entries')?.entries).toEqual([
      { list: 'x', address: '10.1.0.0', 'prefix-len': 16, 'timeout-ms': 60_000 },
    ]);
    expect(peer.revision).toBe(before);
    const many = ['1', '2'].map((last) => ({ list: 'x', address: `10.2.0.${last}`, timeout: '1d' }));
    expect((await router.rest('PUT', LISTS, many)).status).toBe(201);
    expect(asked('add-address-list-entries')?.entries).toHaveLength(2);
  });

  it.each([
    [{ address: '10.0.0.1-10.0.0.5', timeout: '1m' }, 'address', '10.0.0.1-10.0.0.5 is no prefix'],
    [{ address: '10.0.0.1', timeout: '1m', comment: 'x' }, 'comment', 'has none'],
    [{ address: '10.0.0.1', timeout: '1m', disabled: 'yes' }, 'disabled', 'always in force'],
    [{ address: '10.0.0.1', timeout: 'soon' }, 'timeout', 'soon is not a duration'],
    [{ address: 'x', timeout: '1m' }, 'address', 'x is not an IPv4 address'],
  ])('%j is refused', async (args, property, words) => {
    peer.asked.length = 0;
    const { status, error } = await router.rest('PUT', LISTS, { list: 'x', ...args });
    expect(status).toBe(400);
    expect(error.property).toBe(property);
    expect(error.detail).toContain(words);
    expect(asked('add-address-list-entries')).toBeUndefined();
  });

  it('does not mix with stored ones in a list, and a stored one gets none later', async () => {
    const mixed = [
      { list: 'x', address: '10.0.0.1', timeout: '1m' },
      { list: 'x', address: '10.0.0.2' },
    ];
    const { status, error } = await router.rest('PUT', LISTS, mixed);
    expect(status).toBe(400);
    expect(error.detail).toMatch(/^element 1: timeout is required/);
    const { id } = await router.rest('PUT', LISTS, { list: 'x', address: '10.0.0.2' });
    const late = await router.rest('PATCH', `${LISTS}/${id}`, { timeout: '1m' });
    expect(late.error).toMatchObject({
      property: 'timeout',
      detail: expect.stringContaining('only when an entry is added'),
    });
    await router.rest('DELETE', `${LISTS}/${id}`);
  });
});

describe('ids of entries', () => {
  it('name the entry, whatever its place', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const entry = fc.record({
      list: fc.integer({ min: 0, max: 3 }),
      address: fc.oneof(
        fc.array(octet, { minLength: 4, maxLength: 4 }),
        fc.array(octet, { minLength: 16, maxLength: 16 }),
      ),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), fc.integer({ min: 0, max: 32 }), (entries, prefixLen) => {
        const memory = new EntryMemory();
        const lists = ['a', 'b', 'c', 'd'];
        for (const name of ['d', 'x', 'b']) memory.listHash(name);
        const dump = new AddressListDump(
          { lists, records: packed(entries.map((each) => ({ ...each, prefixLen }))) },
          memory,
          0,
        );
        for (let index = 0; index < dump.count; index += 1) {
          const id = dump.id(index);
          const found = memory.entryOf(id);
          expect(found).toMatchObject({ list: lists[entries[index]?.list ?? 0], prefixLen });
          expect(found && memory.idOf(found)).toBe(id);
          // Whoever keeps an id over a restart has not got that of another entry.
          expect(found && new EntryMemory().idOf(found)).toBe(id);
          expect(dump.id(dump.indexOf(id) ?? -1)).toBe(id);
          expect(dump.address(index).split('/')[0]).toBe(found?.address);
        }
      }),
    );
    expect(new EntryMemory().entryOf('*80123456789AB20C0A80101')).toBeUndefined();
  });
});

describe('very many entries', () => {
  it('are listed without stopping everything else', async () => {
    const count = 200_000;
    const records = packed([{ list: 0, address: [10, 0, 0, 0], leftMs: 60_000 }]);
    const all = Buffer.alloc(count * 32);
    for (let index = 0; index < count; index += 1) {
      records.copy(all, index * 32);
      all.writeUInt32BE(0x0a00_0000 + index, index * 32 + 20);
    }
    peer.entries = { lists: ['big'], records: all };
    let longest = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const { ret } = (await router.rest('POST', `${LISTS}/print`, { 'count-only': '', '.query': ['list=big'] })).item;
    expect(ret).toBe(String(count));
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 1, topic: 'menu', menu: LISTS, window: {}, find: '10.3.13.63' });
    const { matched, rows } = await client.next((m) => m.op === 'snapshot', 60_000);
    expect(matched).toBe(1);
    expect(rows).toMatchObject([{ address: '10.3.13.63' }]);
    client.socket.close();
    clearInterval(watch);
    // Slices are 8 ms; the reading itself and the work of a busy machine come on top.
    expect(longest).toBeLessThan(1_500);
  });
});
