import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dropAt, reordered, step } from './row-moves.ts';

const order = ['a', 'b', 'c', 'd', 'e'];
const set = (...ids: string[]) => new Set(ids);

test('rows drop into a gap in their own order', () => {
  expect(dropAt(order, ['a', 'd'], 2)).toEqual({ ids: ['a', 'd'], position: { after: 'b' } });
  expect(dropAt(order, ['a'], 5)).toEqual({ ids: ['a'], position: { after: 'e' } });
});

test('dropping rows where they are is no move', () => {
  expect(dropAt(order, ['b'], 1)).toBeUndefined();
  expect(dropAt(order, ['b'], 2)).toBeUndefined();
  expect(dropAt(order, [], 2)).toBeUndefined();
  expect(dropAt(order, ['d', 'e'], 5)).toBeUndefined();
});

test('one step up and down', () => {
  expect(step(order, set('c'), -1)).toEqual({ ids: ['c'], position: { before: 'b' } });
  expect(step(order, set('c'), 1)).toEqual({ ids: ['c'], position: { after: 'd' } });
  expect(step(order, set('d'), 1)).toEqual({ ids: ['d'], position: { after: 'e' } });
  expect(step(order, set('a'), -1)).toBeUndefined();
  expect(step(order, set('e'), 1)).toBeUndefined();
});

test('nothing is moved above the rows that stay on top', () => {
  expect(step(order, set('b'), -1, 1)).toBeUndefined();
  expect(step(order, set('c'), -1, 1)).toEqual({ ids: ['c'], position: { before: 'b' } });
});

test('a row that was dragged out of the loaded part goes where it is dropped', () => {
  expect(dropAt(['m', 'n', 'o'], ['a'], 2)).toEqual({ ids: ['a'], position: { before: 'o' } });
});

test('a move keeps every row once and the selected ones together', () => {
  fc.assert(
    fc.property(fc.subarray(order, { minLength: 1 }), fc.integer({ min: 0, max: 5 }), (chosen, gap) => {
      const move = dropAt(order, chosen, gap);
      if (move === undefined) return;
      const after = reordered(order, move);
      expect([...after].sort()).toEqual(order);
      const at = after.indexOf(chosen[0] ?? '');
      expect(after.slice(at, at + chosen.length)).toEqual(chosen);
    }),
  );
});

test('a row that moves passes only rows that are shown, and lies between them in the whole list too', () => {
  fc.assert(
    fc.property(
      fc.subarray(order, { minLength: 2 }),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 0, max: 5 }),
      (shown, which, gap) => {
        const id = shown[which % shown.length] ?? '';
        const move = dropAt(shown, [id], gap % (shown.length + 1));
        if (move === undefined) return;
        const whole = reordered(order, move);
        // The shown rows stand in the order of the drop.
        expect(whole.filter((each) => shown.includes(each))).toEqual(reordered(shown, move));
        // Beside it is a row that is shown: nothing that is left out was passed beyond it.
        const beside = 'before' in move.position ? move.position.before : move.position.after;
        expect(Math.abs(whole.indexOf(id) - whole.indexOf(beside))).toBe(1);
        expect('after' in move.position).toBe(order.indexOf(id) < order.indexOf(beside));
      },
    ),
  );
});
