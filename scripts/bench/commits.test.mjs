// @ts-check
import { expect, test } from 'vitest';
import { droppedSince, forConfiguration } from './commits.mjs';

/** @param {Record<string, number>} drops @returns {import('./commits.mjs').Stats} */
function stats(drops) {
  const counts = Object.entries(drops).map(([reason, packets]) => ({ reason, packets }));
  return /** @type {import('./commits.mjs').Stats} */ (/** @type {unknown} */ ({ drops: counts }));
}

test('a packet that a rule dropped meanwhile counts for the configuration, one that found a buffer full does not', () => {
  const before = stats({ 'filter-drop': 3, blackhole: 7, 'receive-queue-full': 5 });
  const after = stats({
    'filter-drop': 4,
    blackhole: 7,
    'receive-queue-full': 9,
    'no-route': 2,
    'ipv6-not-enabled': 1,
  });
  const dropped = droppedSince(before, after);
  expect(dropped.get('receive-queue-full')).toBe(4);
  expect([...forConfiguration(dropped)]).toEqual([
    ['filter-drop', 1],
    ['no-route', 2],
  ]);
});
