import { menuByPath } from '@tollway/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MenuWindow } from '../src/live/message.js';
import { type Delta, deltaOf, evaluate, type WindowContent } from '../src/live/window.js';
import { ArrayRows, type RestRow } from '../src/view/rows.js';

/** What a browser does with a delta, by the contract of `/live`. */
function apply(before: WindowContent, delta: Delta): RestRow[] {
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
const window: fc.Arbitrary<MenuWindow> = fc.record({
  filter: fc.constantFrom([], [['comment', 'a'] as const]),
  find: fc.constantFrom('', '10.'),
  sort: fc.constantFrom(undefined, { by: 'address', desc: false }, { by: 'comment', desc: true }),
  first: fc.nat(4),
  count: fc.nat(6),
});

describe('a delta', () => {
  it('turns any window into any other, and is left out only when nothing differs', () => {
    const menu = menuByPath('/ip/address');
    if (menu === undefined) throw new Error('no menu');
    fc.assert(
      fc.property(rows, rows, window, (first, second, view) => {
        const before = evaluate(menu, new ArrayRows(first), view);
        const after = evaluate(menu, new ArrayRows(second), view);
        const delta = deltaOf(before, after);
        if (delta === undefined) expect(after).toEqual(before);
        else expect(apply(before, delta)).toEqual(after.rows);
      }),
    );
  });
});

it('a filtered window of an ordered menu tells the position of its rows in the whole menu', () => {
  const rules = ['forward', 'input', 'forward'].map((chain, n) => ({ '.id': `*${n + 1}`, chain, action: 'accept' }));
  const filter = menuByPath('/ip/firewall/filter');
  if (filter === undefined) throw new Error('no filter menu');
  const window = { filter: [['chain', 'forward']] as const, find: '', sort: undefined, first: 0, count: 10 };
  const { rows, matched } = evaluate(filter, new ArrayRows(rules), window);
  expect(matched).toBe(2);
  expect(rows.map((row) => row['.nr'])).toEqual(['0', '2']);
});
