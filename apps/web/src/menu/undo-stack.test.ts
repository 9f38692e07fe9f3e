import { expect, test } from 'vitest';
import { UndoStack } from './undo-stack.ts';

test('changes are undone the newest first, and done again the other way', () => {
  const stack = new UndoStack();
  stack.push({ revision: 5, text: 'a' });
  stack.push({ revision: 6, text: 'b' });
  stack.recordUndo(6, 7, 'b');
  expect(stack.last).toEqual({ revision: 5, text: 'a' });
  stack.recordUndo(5, 8, 'a');
  expect(stack.last).toBeUndefined();
  // Undoing the undo does the change again, as a revision of its own.
  expect(stack.lastUndone).toEqual({ revision: 8, text: 'a' });
  stack.recordUndo(8, 9, 'a');
  expect(stack.last).toEqual({ revision: 9, text: 'a' });
  expect(stack.lastUndone).toEqual({ revision: 7, text: 'b' });
});

test('a new change ends what could be done again; one that is dropped is no longer in the way', () => {
  const stack = new UndoStack();
  stack.push({ revision: 1, text: 'a' });
  stack.push({ revision: 2, text: 'b' });
  stack.recordUndo(2, 3, 'b');
  stack.push({ revision: 4, text: 'c' });
  expect(stack.lastUndone).toBeUndefined();
  stack.drop(4);
  expect(stack.last?.revision).toBe(1);
});

test('what could not be undone stays the next, and is known as one that was tried until it is done or skipped', () => {
  const stack = new UndoStack();
  stack.push({ revision: 1, text: 'a' });
  stack.push({ revision: 2, text: 'b' });
  stack.recordFailure(2);
  expect([stack.last?.revision, stack.hasFailed(2), stack.hasFailed(1), stack.has(2), stack.has(9)]).toEqual([
    2,
    true,
    false,
    true,
    false,
  ]);
  stack.recordUndo(2, 3, 'b');
  expect([stack.last?.revision, stack.hasFailed(2)]).toEqual([1, false]);
});
