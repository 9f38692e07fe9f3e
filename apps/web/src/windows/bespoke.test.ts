import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { menuWindowComponents, standaloneWindowComponents, tabExtras } from './bespoke.ts';
import { definitionOf } from './window-definitions.ts';

test('a folder with the window of a menu, or with tabs, is named as the path of a menu', () => {
  const paths = [...menuWindowComponents.keys(), ...tabExtras.keys()];
  expect(paths).toContain('/queue/simple');
  for (const path of paths) expect(menuByPath(path), path).toBeDefined();
});

test('a folder with a window that belongs to no menu is named as its address, which is in the list of windows and no menu', () => {
  expect(standaloneWindowComponents.size).toBeGreaterThan(0);
  for (const address of standaloneWindowComponents.keys()) {
    expect(definitionOf(address), address).toBeDefined();
    expect(menuByPath(address), address).toBeUndefined();
  }
});
