import { expect, test } from 'vitest';
import {
  excludeGone,
  extendBeyondLoaded,
  extendTo,
  inOrder,
  noSelection,
  retain,
  selectAll,
  selectOnly,
  toggle,
} from './selection.ts';

const order = ['a', 'b', 'c', 'd', 'e'];

test('a range runs from the anchor in either direction and shrinks again', () => {
  const from = selectOnly('c');
  const down = extendTo(from, order, 'e');
  expect([...down.ids]).toEqual(['c', 'd', 'e']);
  expect([...extendTo(down, order, 'b').ids]).toEqual(['b', 'c']);
  expect(extendTo(down, order, 'b').focus).toBe('b');
});

test('a range with Ctrl keeps what was selected', () => {
  const two = toggle(selectOnly('a'), 'c');
  expect([...extendTo(two, order, 'd', true).ids].sort()).toEqual(['a', 'c', 'd']);
});

test('a range whose anchor is not in the list starts anew', () => {
  expect([...extendTo(selectOnly('gone'), order, 'b').ids]).toEqual(['b']);
});

test('toggle adds and takes away', () => {
  const one = toggle(noSelection, 'b');
  expect([...one.ids]).toEqual(['b']);
  expect([...toggle(one, 'b').ids]).toEqual([]);
});

test('everything keeps the focus', () => {
  expect(selectAll(selectOnly('d'), order)).toMatchObject({ focus: 'd', anchor: 'a' });
  expect(selectAll(noSelection, order).ids.size).toBe(5);
});

test('rows that are gone leave the selection', () => {
  const all = selectAll(selectOnly('b'), order);
  const left = retain(all, ['a', 'd', 'e']);
  expect([...left.ids]).toEqual(['a', 'd', 'e']);
  expect(left.focus).toBeUndefined();
  expect(retain(left, order)).toBe(left);
});

test('a range whose first row is gone begins at the end of what is left of it', () => {
  const down = retain(extendTo(selectOnly('b'), order, 'd'), ['a', 'c', 'd', 'e']);
  expect(down).toEqual({ ids: new Set(['c', 'd']), focus: 'd', anchor: 'c' });
  const up = retain(extendTo(selectOnly('d'), order, 'b'), ['a', 'b', 'c', 'e']);
  expect(up).toEqual({ ids: new Set(['b', 'c']), focus: 'b', anchor: 'c' });
  expect(retain(selectOnly('b'), ['a'])).toEqual(noSelection);
});

test('rows that are gone are forgotten, and the others stay', () => {
  expect(excludeGone(toggle(selectOnly('a'), 'b'), new Set(['b', 'x']))).toEqual({
    ...noSelection,
    ids: new Set(['a']),
  });
  expect(excludeGone(toggle(selectOnly('b'), 'a'), new Set(['b']))).toEqual(selectOnly('a'));
});

test('selected rows come in the order of the table, or as they were selected when not all of them are loaded', () => {
  expect(inOrder(toggle(selectOnly('d'), 'a'), order)).toEqual(['a', 'd']);
  expect(inOrder({ ...noSelection, ids: new Set(['far', 'a', 'b']) }, order)).toEqual(['far', 'a', 'b']);
});

test('a range whose beginning is not loaded keeps its anchor until all ids are known', () => {
  const far = extendBeyondLoaded(selectOnly('a'), 'z');
  expect(far).toEqual({ ids: new Set(['a', 'z']), focus: 'z', anchor: 'a' });
  expect([...extendTo(far, ['a', 'b', 'y', 'z'], 'z').ids]).toEqual(['a', 'b', 'y', 'z']);
});
