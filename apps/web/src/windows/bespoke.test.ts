import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { bespokePages, bespokeWindows, tabExtras } from './bespoke.ts';
import { groupOf } from './groups.ts';

test('a folder with a window, or with tabs, is named as the path of a menu', () => {
  const paths = [...bespokeWindows.keys(), ...tabExtras.keys()];
  expect(paths).toContain('/queue/simple');
  for (const path of paths) expect(menuByPath(path), path).toBeDefined();
});

test('a folder with a page is named as its address, which is in the list of windows and no menu', () => {
  expect(bespokePages.size).toBeGreaterThan(0);
  for (const address of bespokePages.keys()) {
    expect(groupOf(address), address).toBeDefined();
    expect(menuByPath(address), address).toBeUndefined();
  }
});
