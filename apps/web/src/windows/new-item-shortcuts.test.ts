import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { newItemShortcuts } from './new-item-shortcuts.ts';

test('every shortcut names properties of its menu, and values that they accept', () => {
  for (const { label, menu: path, values } of newItemShortcuts) {
    const menu = menuByPath(path);
    expect(menu?.commands.has('add'), label).toBe(true);
    for (const [name, value] of Object.entries(values)) {
      const prop = menu?.props[name];
      expect(prop, `${label}: ${name}`).toBeDefined();
      expect(value === '' ? prop?.unset : prop?.kind.parse(value).ok, `${label}: ${name}=${value}`).toBe(true);
    }
  }
});
