import { expect, test } from 'vitest';
import { OwnChanges } from './own-changes.ts';

test('changes are undone the newest first, and done again the other way', () => {
  const own = new OwnChanges();
  own.made({ revision: 5, text: 'a' });
  own.made({ revision: 6, text: 'b' });
  own.undone(6, 7, 'b');
  expect(own.last).toEqual({ revision: 5, text: 'a' });
  own.undone(5, 8, 'a');
  expect(own.last).toBeUndefined();
  // Undoing the undo does the change again, as a revision of its own.
  expect(own.lastUndone).toEqual({ revision: 8, text: 'a' });
  own.undone(8, 9, 'a');
  expect(own.last).toEqual({ revision: 9, text: 'a' });
  expect(own.lastUndone).toEqual({ revision: 7, text: 'b' });
});

test('a new change ends what could be done again; one that is dropped is no longer in the way', () => {
  const own = new OwnChanges();
  own.made({ revision: 1, text: 'a' });
  own.made({ revision: 2, text: 'b' });
  own.undone(2, 3, 'b');
  own.made({ revision: 4, text: 'c' });
  expect(own.lastUndone).toBeUndefined();
  own.drop(4);
  expect(own.last?.revision).toBe(1);
});

test('what could not be undone stays the next, and is known as one that was tried until it is done or skipped', () => {
  const own = new OwnChanges();
  own.made({ revision: 1, text: 'a' });
  own.made({ revision: 2, text: 'b' });
  own.failed(2);
  expect([own.last?.revision, own.hasFailed(2), own.hasFailed(1), own.has(2), own.has(9)]).toEqual([
    2,
    true,
    false,
    true,
    false,
  ]);
  own.undone(2, 3, 'b');
  expect([own.last?.revision, own.hasFailed(2)]).toEqual([1, false]);
});
