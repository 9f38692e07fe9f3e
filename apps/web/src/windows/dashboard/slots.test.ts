import { expect, test } from 'vitest';
import { inPlace, type Slot } from './slots.ts';

const slot = (name: string, share = 0): Slot => ({ opens: '/log', texts: { name }, share });

test('rows that are pointed at stay where they are, with their new values; what came waits', () => {
  const placed = inPlace(['/log a', '/log b', '/log c'], [slot('c', 3), slot('d', 2), slot('a', 1)]);
  expect(placed).toEqual([slot('a', 1), undefined, slot('c', 3)]);
});
