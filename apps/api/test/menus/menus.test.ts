import { readdirSync } from 'node:fs';
import { menuByPath, registry } from '@tollway/schema';
import { describe, expect, it } from 'vitest';
import { menuModules } from '../../src/menus/index.js';

const FOLDER = new URL('../../src/menus/', import.meta.url);
const byPath = new Map(menuModules.map((module) => [module.path, module]));

describe('modules of menus', () => {
  it('stand at the paths of their menus, each in the index once', () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && file !== 'index.ts' && file !== 'module.ts')
      .map((file) => `/${file.slice(0, -'.ts'.length)}`);
    expect(menuModules.map(({ path }) => path).sort()).toEqual(files.sort());
    for (const path of files) expect(menuByPath(path), path).toBeDefined();
  });

  it('are there for every menu that its declaration alone does not make work', () => {
    for (const menu of registry) {
      const module = byPath.get(menu.path);
      const hasLiveValues = (menu.source !== 'stored' || menu.refreshMs !== undefined) && menu.kind !== 'command';
      if (hasLiveValues) expect(module?.view ?? module?.liveRows, menu.path).toBeDefined();
      if (menu.source === 'union') {
        expect(menu.props.dynamic, menu.path).toBeDefined();
        expect(module?.liveRows, menu.path).toBeDefined();
      }
      // The rows of a menu that shows others than its own are not joined with any.
      if (module?.view !== undefined) expect(module.liveRows, menu.path).toBeUndefined();
      if (menu.dynamicRemovable !== undefined) expect(module?.dynamic, menu.path).toBeDefined();
      expect(module?.run !== undefined, menu.path).toBe(menu.run !== undefined);
    }
  });

  it('have only commands that their menus declare', () => {
    for (const { path, commands = {} } of menuModules) {
      // Those of counters come together.
      const declared = [...(menuByPath(path)?.commands.keys() ?? []), 'reset-counters-all'];
      for (const name of Object.keys(commands)) expect(declared, path).toContain(name);
    }
  });
});
