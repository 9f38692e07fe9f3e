import type { Changes } from '@tollway/protocol/live/menu';
import { menuByPath } from '@tollway/schema';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { deltaOf, evaluate, type QueryResult, scannedItems } from '../../src/live/evaluate.js';
import type { RowQuery } from '../../src/live/row-query.js';
import { ArrayRows, type RestRow } from '../../src/view/rows.js';

/** Applies a delta as a browser does, by the contract of `/live`. */
function apply(before: QueryResult, delta: Changes): RestRow[] {
  const rows = new Map(before.rows.map((row) => [row['.id'] ?? '', row]));
  for (const id of delta.remove) rows.delete(id);
  for (const row of delta.set) rows.set(row['.id'] ?? '', { ...rows.get(row['.id'] ?? ''), ...row });
  for (const [id, names] of Object.entries(delta.unset ?? {})) {
    const kept = Object.entries(rows.get(id) ?? {}).filter(([name]) => !names.includes(name));
    rows.set(id, Object.fromEntries(kept));
  }
  const order = delta.order ?? before.rows.map((row) => row['.id'] ?? '');
  return order.map((id) => rows.get(id) ?? {});
}

const row = fc.record(
  { comment: fc.constantFrom('a', 'b'), address: fc.constantFrom('10.0.0.1/24', '10.0.0.2/24', '9.0.0.1/8') },
  { requiredKeys: [] },
);
const rows = fc
  .uniqueArray(fc.record({ id: fc.nat(12), row }), { selector: (item) => item.id, maxLength: 10 })
  .map((items) => items.map(({ id, row }): RestRow => ({ '.id': `*${id}`, ...row })));
const query: fc.Arbitrary<RowQuery> = fc.record({
  filter: fc.constantFrom([], [{ column: 'comment', op: 'is' as const, value: 'a' }]),
  columns: fc.constantFrom(undefined, ['address']),
  find: fc.constantFrom('', '10.'),
  sort: fc.constantFrom(undefined, { by: 'address', desc: false }, { by: 'comment', desc: true }),
  first: fc.nat(4),
  count: fc.nat(6),
});

const EVERYTHING: RowQuery = { filter: [], columns: undefined, find: '', sort: undefined, first: 0, count: 1000 };

function menuAt(path: string) {
  const menu = menuByPath(path);
  if (menu === undefined) throw new Error(`no menu ${path}`);
  return menu;
}

describe('a delta', () => {
  it('turns any result into any other, and is left out only when nothing differs', async () => {
    const menu = menuAt('/ip/address');
    await fc.assert(
      fc.asyncProperty(rows, rows, query, async (first, second, view) => {
        const before = await evaluate(menu, new ArrayRows(first), view);
        const after = await evaluate(menu, new ArrayRows(second), view);
        const delta = deltaOf(before, after);
        if (delta === undefined) expect(after).toEqual(before);
        else expect(apply(before, delta)).toEqual(after.rows);
      }),
    );
  });
});

it('a filtered query of an ordered menu tells the position of its rows in the whole menu', async () => {
  const rules = ['forward', 'input', 'forward'].map((chain, n) => ({ '.id': `*${n + 1}`, chain, action: 'accept' }));
  const filter = menuAt('/ip/firewall/filter');
  const chain = { column: 'chain', op: 'is', value: 'forward' } as const;
  const { rows, matched } = await evaluate(filter, new ArrayRows(rules), { ...EVERYTHING, filter: [chain] });
  expect(matched).toBe(2);
  expect(rows.map((row) => row['.nr'])).toEqual(['0', '2']);
});

it('finds what people can read: not digits of an amount that stands there with a unit', async () => {
  const connections: readonly RestRow[] = [
    { '.id': '*1', 'dst-address': '198.51.100.10:5201', 'orig-bytes': '10' },
    { '.id': '*2', 'dst-address': '198.51.100.10:443', 'orig-bytes': '952013' },
    { '.id': '*3', 'dst-address': '198.51.100.10:443', 'reply-src-port': '5201' },
  ];
  const find = async (text: string) => {
    const query = { ...EVERYTHING, find: text };
    const { rows } = await evaluate(menuAt('/ip/firewall/connection'), new ArrayRows(connections), query);
    return rows.map((row) => row['.id']);
  };
  expect(await find('5201')).toEqual(['*1', '*3']);
  expect(await find('929.7 kib')).toEqual(['*2']);
  const rules = [{ '.id': '*1', 'max-limit': '5201000/0' }];
  const typed = { ...EVERYTHING, find: '5201' };
  expect((await evaluate(menuAt('/queue/simple'), new ArrayRows(rules), typed)).matched).toBe(1);
});

describe('order', () => {
  const routes: readonly RestRow[] = [
    { '.id': '*1', 'dst-address': '10.0.0.0/8', gateway: '10.1.1.1', distance: '2' },
    { '.id': '*2', 'dst-address': '9.0.0.0/8', distance: '10', connect: 'true' },
    { '.id': '*A', 'dst-address': '10.0.0.0/16', gateway: 'ether1', distance: '1' },
  ];
  it.each([
    ['distance', false, ['*A', '*1', '*2']],
    ['distance', true, ['*2', '*1', '*A']],
    ['dst-address', false, ['*2', '*1', '*A']],
    ['dst-address', true, ['*A', '*1', '*2']],
    ['gateway', false, ['*1', '*A', '*2']],
    ['gateway', true, ['*A', '*1', '*2']],
    ['connect', true, ['*2', '*1', '*A']],
    ['.id', true, ['*A', '*2', '*1']],
    ['weather', true, ['*1', '*2', '*A']],
  ])('by %s, descending %s', async (by, desc, expected) => {
    const { rows } = await evaluate(menuAt('/ip/route'), new ArrayRows(routes), { ...EVERYTHING, sort: { by, desc } });
    expect(rows.map((row) => row['.id'])).toEqual(expected);
  });

  it('by the addresses of IPv6 networks, not by their texts, then by their lengths', async () => {
    const texts = [
      '::/0',
      '9::/16',
      '10::/16',
      '2001:db8::/32',
      '2001:db8::/48',
      '2001:db8::/128',
      '2001:db8:1::/48',
      'fe80::/10',
    ];
    const routes = [...texts].reverse().map((destination, n) => ({ '.id': `*${n}`, 'dst-address': destination }));
    const query = { ...EVERYTHING, sort: { by: 'dst-address', desc: false } };
    const { rows } = await evaluate(menuAt('/ipv6/route'), new ArrayRows(routes), query);
    expect(rows.map((row) => row['dst-address'])).toEqual(texts);
  });

  it('by half of a pair', async () => {
    const queues = ['5/1', '10/3', '7/2'].map((limit, n) => ({ '.id': `*${n}`, name: `q${n}`, 'max-limit': limit }));
    const by = async (column: string) => {
      const query = { ...EVERYTHING, sort: { by: column, desc: false } };
      return (await evaluate(menuAt('/queue/simple'), new ArrayRows(queues), query)).rows.map((row) => row['.id']);
    };
    expect(await by('max-limit.upload')).toEqual(['*0', '*2', '*1']);
    expect(await by('max-limit.download')).toEqual(['*0', '*2', '*1']);
  });

  it('by the sum of columns, those without any of them last', async () => {
    const interfaces: readonly RestRow[] = [
      { '.id': '*1', name: 'ether1', 'tx-bits-per-second': '4400000', 'rx-bits-per-second': '1000' },
      { '.id': '*2', name: 'ether2', 'tx-bits-per-second': '0', 'rx-bits-per-second': '19900000' },
      { '.id': '*3', name: 'ether3' },
      { '.id': '*4', name: 'ether4', 'rx-bits-per-second': '5000000' },
    ];
    const sort = { by: 'tx-bits-per-second+rx-bits-per-second', desc: true };
    const { rows } = await evaluate(menuAt('/interface'), new ArrayRows(interfaces), { ...EVERYTHING, sort });
    expect(rows.map((row) => row['.id'])).toEqual(['*2', '*4', '*1', '*3']);
    // Queues are read as numbers.
    const rates: Readonly<Record<string, readonly number[]>> = { 'rate.upload': [1, 9, 4], 'rate.download': [5, 0, 8] };
    const queues = Object.assign(new ArrayRows(['*1', '*2', '*3'].map((id) => ({ '.id': id }))), {
      sortNumbers: (column: string) => (index: number) => rates[column]?.[index] ?? 0,
    });
    const byRate = { ...EVERYTHING, sort: { by: 'rate.upload+rate.download', desc: true } };
    const ranked = await evaluate(menuAt('/queue/simple'), queues, byRate);
    expect(ranked.rows.map((row) => row['.id'])).toEqual(['*3', '*2', '*1']);
  });

  it('of a long list is the stable order of its kind, and others get their turn meanwhile', async () => {
    const menu = menuAt('/ip/firewall/connection');
    const address = (n: number) => `10.0.${(n * 7919) % 251}.${(n * 104_729) % 241}:${n % 3}`;
    const long = Array.from({ length: 20_000 }, (_, n) => ({ '.id': `*${n}`, 'src-address': address(n) }));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const query = { ...EVERYTHING, count: long.length, sort: { by: 'src-address', desc: false } };
    const { rows } = await evaluate(menu, new ArrayRows(long), query);
    clearInterval(timer);
    const numbers = (text = '') => text.split(/[.:]/).map(Number);
    const expected = [...long].sort((a, b) => {
      const [x, y] = [numbers(a['src-address']), numbers(b['src-address'])];
      return x.map((part, at) => part - (y[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
    });
    expect(rows.map((row) => row['.id'])).toEqual(expected.map((row) => row['.id']));
    expect(turns).toBeGreaterThan(0);
  });
});

it('a query that names its columns gets those, flags and comments only', async () => {
  const rule = { '.id': '*1', chain: 'input', action: 'drop', disabled: 'true', comment: 'x', '.about': 'y' };
  const query = { ...EVERYTHING, columns: ['chain', 'no-such'] };
  const { rows } = await evaluate(menuAt('/ip/firewall/filter'), new ArrayRows([rule]), query);
  expect(rows).toEqual([{ '.id': '*1', chain: 'input', disabled: 'true', comment: 'x', '.about': 'y' }]);
});

it('an item is looked up by its id where the set can, and only there', async () => {
  const rows = Array.from({ length: 1000 }, (_, at) => ({ '.id': `*${(at + 1).toString(16)}`, comment: String(at) }));
  let looked = 0;
  class Counted extends ArrayRows {
    override value(index: number, property: string): string | undefined {
      looked += 1;
      return super.value(index, property);
    }

    override indexOf(id: string): number | undefined {
      const index = rows.findIndex((row) => row['.id'] === id);
      return index < 0 ? undefined : index;
    }
  }
  const filter = (id: string) => [{ column: '.id', op: 'is' as const, value: id }];
  const one = await evaluate(menuAt('/ip/address'), new Counted(rows), { ...EVERYTHING, filter: filter('*2a') });
  expect(one).toMatchObject({ total: 1000, matched: 1, rows: [{ comment: '41' }] });
  expect(looked).toBeLessThan(10);
  const none = await evaluate(menuAt('/ip/address'), new Counted(rows), { ...EVERYTHING, filter: filter('*fff') });
  expect(none).toMatchObject({ total: 1000, matched: 0, rows: [] });
  expect(looked).toBeLessThan(10);
});

it('lets others work after some milliseconds, whatever an item costs', async () => {
  let now = 0;
  let since = 0;
  let longest = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  let watching = true;
  const turn = () => {
    since = now;
    if (watching) setImmediate(turn);
  };
  setImmediate(turn);
  /** Rows that take a millisecond each time that one of their cells is read. */
  class SlowRows extends ArrayRows {
    override value(index: number, property: string): string | undefined {
      this.#work();
      return super.value(index, property);
    }
    override row(index: number): RestRow {
      this.#work();
      return super.row(index);
    }
    #work(): void {
      now += 1;
      longest = Math.max(longest, now - since);
    }
  }
  const menu = menuAt('/queue/simple');
  const items = Array.from({ length: 600 }, (_, n) => ({
    '.id': `*${n + 1}`,
    name: `q${n % 50}`,
    target: '10.0.0.0/8',
  }));
  const view = { ...EVERYTHING, count: 1 };
  const queries: RowQuery[] = [
    { ...view, find: 'nothing' },
    { ...view, filter: [{ column: 'name', op: 'contains', value: 'none' }] },
    { ...view, sort: { by: 'name', desc: true } },
    { ...view, sort: { by: 'max-limit.upload+max-limit.download', desc: true } },
    { ...view, tree: { folded: false, except: new Set() } },
  ];
  try {
    for (const query of queries) {
      longest = 0;
      await evaluate(menu, new SlowRows(items), query);
      expect(longest, JSON.stringify(query)).toBeLessThanOrEqual(25);
    }
  } finally {
    watching = false;
    clock.mockRestore();
  }
});

describe('the items that a query walks through', () => {
  const set = { length: 9, id: String, value: () => undefined, row: () => ({}), indexOf: () => 4 };
  const one = { column: '.id', op: 'is', value: '*4' } as const;
  it.each<[string, number, Partial<RowQuery>]>([
    ['none when it shows some as they are', 0, {}],
    ['none when it asks for one', 0, { filter: [one], find: 'a' }],
    ['all when it sorts', 9, { sort: { by: 'comment', desc: false } }],
    ['all when it filters', 9, { filter: [{ ...one, op: 'is-not' }] }],
    ['all when it finds', 9, { find: 'a' }],
    ['all when it is a tree', 9, { filter: [one], tree: { folded: false, except: new Set() } }],
  ])('are %s', (_what, count, asked) => {
    expect(scannedItems(set, { ...EVERYTHING, ...asked })).toBe(count);
  });

  it('are all when the one is not found without a walk', () => {
    expect(scannedItems({ ...set, indexOf: undefined }, { ...EVERYTHING, filter: [one] })).toBe(9);
  });
});
