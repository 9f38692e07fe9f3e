import { expect, test } from 'vitest';
import { taskLabels } from './task-label.ts';

const labels = (...titles: string[]) => taskLabels(titles.map((title) => ({ title })));

test('a window of an item is known by the item, windows with one title by their number', () => {
  const number = undefined;
  expect(labels('Queue List', 'Simple Queue <office>', 'Simple Queue <a > b>', 'Queue List', 'New Queue')).toEqual([
    { name: 'Queue List', kind: 'Queue List', item: ['', ''], number },
    { name: 'Simple Queue <office>', kind: 'Simple Queue', item: ['office', ''], number },
    { name: 'Simple Queue <a > b>', kind: 'Simple Queue', item: ['a > b', ''], number },
    { name: 'Queue List (2)', kind: 'Queue List', item: ['', ''], number: 2 },
    { name: 'New Queue', kind: 'New Queue', item: ['', ''], number },
  ]);
});

test('long names that begin alike keep their ends', () => {
  const items = labels('Simple Queue <subscriber-0001>', 'Simple Queue <subscriber-0002>').map(({ item }) => item);
  expect(items).toEqual([
    ['subscriber-', '0001'],
    ['subscriber-', '0002'],
  ]);
});
