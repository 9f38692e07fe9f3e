import { expect, test } from 'vitest';
import { readTabs, withTab } from './remembered-tab.ts';

test('the newest tab of each item is remembered, of fifty items', () => {
  let tabs = withTab(withTab([], '/queue/simple/*1', 'Traffic'), '/queue/simple/*1', 'Days');
  expect(tabs).toEqual([['/queue/simple/*1', 'Days']]);
  for (let at = 0; at < 60; at += 1) tabs = withTab(tabs, `/ip/address/*${at}`, 'General');
  expect(tabs).toHaveLength(50);
  expect(tabs[0]).toEqual(['/ip/address/*10', 'General']);
  expect(readTabs(JSON.stringify(tabs))).toEqual(tabs);
});

test('what is stored may be anything', () => {
  for (const text of [null, '', '{', '{"a":1}', '[1,["a"],["a",2]]']) expect(readTabs(text)).toEqual([]);
});
