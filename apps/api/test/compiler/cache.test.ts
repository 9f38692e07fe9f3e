import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder } from '../../src/agent/frames.js';
import { digestOf } from '../../src/compiler/digest.js';
import { compile } from '../../src/menus/index.js';
import type { ConfigSnapshot, Row } from '../../src/snapshot/snapshot.js';
import { ports, snapshotOf } from '../config/rows.js';

const FILTER = '/ip/firewall/filter';
const SIMPLE = '/queue/simple';
const TYPES = '/queue/type';

const base = snapshotOf({
  '/interface/ethernet': ports(3),
  '/interface/list': [{ '.id': '21', name: 'LAN' }],
  '/interface/list/member': [{ '.id': '31', list: 'LAN', interface: 'ether2' }],
  '/ip/firewall/address-list': [{ '.id': '41', list: 'a', address: '10.0.0.1' }],
});

/** Values that a rule may depend on: interfaces, lists, other chains, the clock. */
const values = fc.record(
  {
    chain: fc.constantFrom('forward', 'input', 'one', 'two'),
    action: fc.constantFrom('accept', 'jump', 'drop'),
    'jump-target': fc.constantFrom('one', 'two', 'three'),
    'in-interface': fc.constantFrom('ether1', '!ether2', 'ether9'),
    'in-interface-list': fc.constantFrom('LAN', 'GONE'),
    'src-address-list': fc.constantFrom('a', 'b', 'c'),
    time: fc.constantFrom('8h-17h,mon'),
  },
  { requiredKeys: ['chain', 'action'] },
);
/** Values that a simple queue may depend on: interfaces, types, marks, its parents, the clock. */
const queueValues = fc.record(
  {
    target: fc.constantFrom('10.0.0.0/8', 'ether1', 'ether9'),
    queue: fc.constantFrom('default/mine', 'mine/mine', 'default-small/default', 'gone/mine'),
    'packet-marks': fc.constantFrom('voip', 'voip,no-mark', 'costarring', 'liquid'),
    parent: fc.constantFrom('none', 'q200', 'q201', 'q202', 'q203'),
    'max-limit': fc.constantFrom('1/1', '2/2'),
    'total-max-limit': fc.constantFrom('5', '6'),
    'total-queue': fc.constantFrom('default', 'mine', 'gone'),
    'total-priority': fc.constantFrom('1', '2'),
    time: fc.constantFrom('8h-17h,mon'),
  },
  { requiredKeys: ['target'] },
);
const queue = fc.record({ id: fc.integer({ min: 200, max: 203 }), values: queueValues, disabled: fc.boolean() });
const rule = fc.record({ id: fc.integer({ min: 100, max: 112 }), values, disabled: fc.boolean() });
/** One change: a rule that is put in or replaced, or another list, interface or clock. */
const change = fc.oneof(
  { weight: 5, arbitrary: rule.map((row) => ({ kind: 'rule', row }) as const) },
  { weight: 5, arbitrary: queue.map((row) => ({ kind: 'queue', row }) as const) },
  { weight: 1, arbitrary: fc.constantFrom('pfifo', 'sfq').map((type) => ({ kind: 'type', type }) as const) },
  { weight: 1, arbitrary: fc.constantFrom('a', 'b', 'c').map((list) => ({ kind: 'list', list }) as const) },
  { weight: 1, arbitrary: fc.constantFrom('ether9', 'lan').map((name) => ({ kind: 'interface', name }) as const) },
  { weight: 1, arbitrary: fc.constantFrom(0, 3_600).map((offset) => ({ kind: 'clock', offset }) as const) },
);

function changed(
  snapshot: ConfigSnapshot,
  what: typeof change extends fc.Arbitrary<infer T> ? T : never,
): ConfigSnapshot {
  const rows = (menu: string): readonly Row[] => snapshot.get(menu) ?? [];
  const put = (menu: string, next: readonly Row[]): ConfigSnapshot => new Map(snapshot).set(menu, next);
  switch (what.kind) {
    case 'rule': {
      const others = rows(FILTER).filter(({ id }) => id !== what.row.id);
      return put(
        FILTER,
        [...others, { ...what.row, comment: '' }].sort((a, b) => a.id - b.id),
      );
    }
    case 'queue': {
      const others = rows(SIMPLE).filter(({ id }) => id !== what.row.id);
      const values = { ...what.row.values, name: `q${what.row.id}` };
      return put(
        SIMPLE,
        [...others, { ...what.row, values, comment: '' }].sort((a, b) => a.id - b.id),
      );
    }
    case 'type':
      return put(TYPES, [{ id: 300, values: { name: 'mine', kind: what.type }, disabled: false, comment: '' }]);
    case 'list': {
      const entry: Row = { id: 42, values: { list: what.list, address: '10.0.0.2' }, disabled: false, comment: '' };
      return put('/ip/firewall/address-list', [entry]);
    }
    case 'interface': {
      const [first, ...others] = rows('/interface/ethernet');
      if (first === undefined) return snapshot;
      return put('/interface/ethernet', [{ ...first, values: { ...first.values, name: what.name } }, ...others]);
    }
    case 'clock':
      return snapshot;
  }
}

describe('a compiler that remembers', () => {
  it('says the same as one that has forgotten, on paper and on the wire', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
        let snapshot: ConfigSnapshot = base;
        let offset = 0;
        for (const what of changes) {
          if (what.kind === 'clock') offset = what.offset;
          snapshot = changed(snapshot, what);
          const remembered = compile(snapshot, offset);
          const fresh = compile(structuredClone(snapshot), offset);
          expect(remembered).toEqual(fresh);
          expect(digestOf(remembered.config)).toBe(digestOf(fresh.config));
          const [message] = new FrameDecoder().push(encodeFrame({ id: 1, body: { config: remembered.config } }));
          expect(message).toEqual({ id: 1, body: { config: fresh.config } });
        }
      }),
      { numRuns: 0.6 * (fc.readConfigureGlobal()?.numRuns ?? 100) },
    );
  });

  it('gives the same queue for a row that did not change', () => {
    const rows = [200, 201].map(
      (id): Row => ({
        id,
        values: { name: `q${id}`, target: '10.0.0.0/8', ...(id === 201 && { parent: 'q200' }) },
        disabled: false,
        comment: '',
      }),
    );
    const queues = (of: readonly Row[]) => compile(new Map(base).set(SIMPLE, of)).config['simple-queues'] ?? [];
    const before = queues(rows);
    const [first, second] = rows as [Row, Row];
    const held = { ...first, values: { ...first.values, 'total-max-limit': '1' } };
    expect(queues([...rows, { ...second, id: 202, values: { ...second.values, name: 'q202' } }])[1]).toBe(before[1]);
    // What its parent holds both directions to holds for it too.
    expect(queues([held, second])[1]?.total).not.toBeNull();
    expect(queues(rows)).toEqual(before);
  });

  it('gives the same rule for a row that did not change', () => {
    const rows = Array.from(
      { length: 3 },
      (_, index): Row => ({
        id: 100 + index,
        values: { chain: 'forward', action: 'accept' },
        disabled: false,
        comment: '',
      }),
    );
    const rules = (of: readonly Row[]) =>
      compile(new Map(base).set(FILTER, of)).config.filter.flatMap((chain) => chain.rules);
    const before = rules(rows);
    const [first, , third] = rules([...rows.slice(0, 1), { ...rows[1], disabled: true } as Row, ...rows.slice(2)]);
    expect(first).toBe(before[0]);
    expect(third).toBeUndefined();
    expect(rules(rows)[2]).toBe(before[2]);
  });

  it('gives the same entry of an address list for a row that did not change', () => {
    const rows = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(
      (address, index): Row => ({ id: 100 + index, values: { list: 'a', address }, disabled: false, comment: '' }),
    );
    const entries = (of: readonly Row[]) =>
      compile(new Map(base).set('/ip/firewall/address-list', of)).config['address-lists'][0]?.entries;
    const before = entries(rows);
    const [first, second, third] = rows as [Row, Row, Row];
    const [one, other] = entries([first, { ...second, disabled: true }, third]) ?? [];
    expect(one).toBe(before?.[0]);
    expect(other).toBe(before?.[2]);
    const moved = entries([first, second, { ...third, values: { list: 'a', address: '10.0.0.9' } }]);
    expect(moved?.[2]).toEqual({ from: '10.0.0.9', to: '10.0.0.9' });
  });
});
