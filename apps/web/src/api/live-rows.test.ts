import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyMessage, heldOrder, type LiveRows, noRows } from './live-rows.ts';

const rows = (...ids: string[]) => ids.map((id) => ({ '.id': id, name: `n${id}` }));
const snapshot = (...ids: string[]) => ({
  op: 'snapshot' as const,
  total: 9,
  matched: ids.length,
  first: 3,
  rows: rows(...ids),
});
const loaded = applyMessage(noRows, snapshot('*1', '*2', '*3')).state;

test('a snapshot replaces everything', () => {
  const { state, change } = applyMessage(loaded, snapshot('*7'));
  expect(state).toMatchObject({ loaded: true, total: 9, matched: 1, first: 3, order: ['*7'] });
  expect([...state.rows.keys()]).toEqual(['*7']);
  expect(change.order).toBe(true);
});

test('a delta changes values in place and leaves the other rows alone', () => {
  const { state, change } = applyMessage(loaded, {
    op: 'delta',
    total: 9,
    matched: 3,
    set: [{ '.id': '*2', rate: '5' }],
    remove: [],
  });
  expect(state.rows.get('*2')).toEqual({ '.id': '*2', name: 'n*2', rate: '5' });
  expect(state.rows.get('*1')).toBe(loaded.rows.get('*1'));
  expect(state.order).toBe(loaded.order);
  expect(change).toEqual({ rows: new Set(['*2']), order: false });
});

test('whether items are missing is known', () => {
  const none = { op: 'delta' as const, total: 0, matched: 0, order: [], set: [], remove: [], incomplete: true };
  const gone = applyMessage(loaded, none).state;
  expect([gone.incomplete, gone.order]).toEqual([true, []]);
  const { state, change } = applyMessage(gone, { ...none, incomplete: undefined });
  expect([state.incomplete, change.order]).toEqual([false, true]);
  expect(applyMessage(gone, { ...snapshot(), incomplete: true }).state.incomplete).toBe(true);
  expect(loaded.incomplete).toBe(false);
});

test('unset takes properties away', () => {
  const { state } = applyMessage(loaded, {
    op: 'delta',
    total: 9,
    matched: 3,
    set: [],
    unset: { '*1': ['name'] },
    remove: [],
  });
  expect(state.rows.get('*1')).toEqual({ '.id': '*1' });
});

test('order brings new rows to their place and drops those that left', () => {
  const { state, change } = applyMessage(loaded, {
    op: 'delta',
    total: 9,
    matched: 3,
    order: ['*3', '*4', '*1'],
    set: rows('*4'),
    remove: ['*2'],
  });
  expect(state.order).toEqual(['*3', '*4', '*1']);
  expect([...state.rows.keys()].sort()).toEqual(['*1', '*3', '*4']);
  expect(change.order).toBe(true);
});

test('a removal without an order closes the gap', () => {
  const { state } = applyMessage(loaded, { op: 'delta', total: 8, matched: 2, set: [], remove: ['*2'] });
  expect(state.order).toEqual(['*1', '*3']);
  expect(state.total).toBe(8);
});

test('a delta before any snapshot, and other messages, change nothing', () => {
  expect(applyMessage(noRows, { op: 'delta', total: 1, matched: 1, set: rows('*1'), remove: [] }).state).toBe(noRows);
  expect(applyMessage(loaded, { op: 'history', samples: [] }).state).toBe(loaded);
});

test('a settings menu is one row without an id', () => {
  const { state } = applyMessage(noRows, {
    op: 'snapshot',
    total: 1,
    matched: 1,
    first: 0,
    rows: [{ name: 'r1' }],
  });
  expect(state.order).toEqual(['']);
  expect(state.rows.get('')).toEqual({ name: 'r1' });
});

/** The deltas that a server sends from one content to the next, as the contract describes them. */
function deltaBetween(before: readonly string[], after: readonly string[]) {
  return {
    op: 'delta' as const,
    total: after.length,
    matched: after.length,
    order: after,
    set: rows(...after.filter((id) => !before.includes(id))),
    remove: before.filter((id) => !after.includes(id)),
  };
}

test('deltas lead to the same state as a snapshot', () => {
  const content = fc.uniqueArray(
    fc.integer({ min: 1, max: 12 }).map((n) => `*${n}`),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 6 }), (contents) => {
      const [first = [], ...later] = contents;
      let state: LiveRows = applyMessage(noRows, snapshot(...first)).state;
      let before = first;
      for (const after of later) {
        state = applyMessage(state, deltaBetween(before, after)).state;
        before = after;
      }
      expect(state.order).toEqual(before);
      expect(new Map(state.rows)).toEqual(new Map(rows(...before).map((row) => [row['.id'], row])));
    }),
  );
});

test('rows that are held keep their places; new ones come last', () => {
  expect(heldOrder(['a', 'b', 'c'], ['c', 'd', 'a'])).toEqual(['a', 'b', 'c', 'd']);
});
