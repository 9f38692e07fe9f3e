// @ts-check
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inProject } from '../project.mjs';
import { drawing } from './drawing.mjs';
import { importGraph } from './imports.mjs';
import { LAYERS } from './layers.mjs';
import { arrowsBetween, circles, violations } from './rules.mjs';

/** @type {string} */
let root;

/** Puts source files below the root. @param {Readonly<Record<string, string>>} files */
function write(files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
}

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'tollway-graph-'));
  write({
    'package.json': '{ "workspaces": ["kinds"] }',
    'kinds/package.json': '{ "name": "@tollway/kinds" }',
  });
});
afterEach(() => rmSync(root, { recursive: true }));

/** @param {Readonly<Record<string, string>>} files */
const graphOf = (files) => {
  write(files);
  return importGraph(root, ['src']);
};

describe('the import graph', () => {
  it('has every way in which a file names another one', () => {
    const graph = graphOf({
      'src/a.ts': `
        import { b } from './b.js';
        import type { C } from './c.tsx';
        export * from './d.js';
        export type E = import('./e.js').E;
        const f = () => import('./f.mjs');
        import './looks.css';
        import { Kind } from '@tollway/kinds/text';
        import { readFileSync } from 'node:fs';
        // import { no } from './none.js';
        const text = "import './none.js'";`,
      'src/b.ts': '',
      'src/c.tsx': 'export const C = () => <p>a</p>;',
      'src/d.ts': '',
      'src/e.ts': '',
      'src/f.mjs': "/** @typedef {import('./deep/g.mjs').G} G */",
      'src/deep/g.mjs': '',
      'src/looks.css': '',
      'src/a.test.ts': "import './a.js';",
    });
    expect([...(graph.get('src/a.ts') ?? [])].sort()).toEqual([
      'kinds/package.json',
      'src/b.ts',
      'src/c.tsx',
      'src/d.ts',
      'src/e.ts',
      'src/f.mjs',
    ]);
    expect([...(graph.get('src/f.mjs') ?? [])]).toEqual(['src/deep/g.mjs']);
    expect(graph.has('src/a.test.ts')).toBe(false);
  });

  it('has the files that a pattern imports', () => {
    const graph = graphOf({
      'src/windows.ts': `
        const all = import.meta.glob('./**/window.tsx');
        const tabs = import.meta.glob(['./**/tabs.ts', './x/*.y.ts'], { eager: true });`,
      'src/a/window.tsx': "import '../../src/windows.js';",
      'src/a/b/window.tsx': '',
      'src/window.tsx': '',
      'src/a/standalone-window.tsx': '',
      'src/a/tabs.ts': '',
      'src/x/z.y.ts': '',
      'src/x/zxy.ts': '',
    });
    expect([...(graph.get('src/windows.ts') ?? [])].sort()).toEqual([
      'src/a/b/window.tsx',
      'src/a/tabs.ts',
      'src/a/window.tsx',
      'src/window.tsx',
      'src/x/z.y.ts',
    ]);
    expect(circles(graph)).toEqual([['src/a/window.tsx', 'src/windows.ts']]);
    expect(() => graphOf({ 'src/none.ts': "import.meta.glob('./none/*.ts');" })).toThrow(
      'src/none.ts imports ./none/*.ts, which no file matches',
    );
  });

  it('is refused when a file is not there, or cannot be read', () => {
    expect(() => graphOf({ 'src/a.ts': "import './gone.js';" })).toThrow('src/a.ts imports ./gone.js');
    expect(() => graphOf({ 'src/a.ts': 'import {' })).toThrow('src/a.ts: ');
  });
});

describe('the rules', () => {
  it('find every circle, of types too, and no other files', () => {
    const graph = graphOf({
      'src/a.ts': "import './b.js';",
      'src/b.ts': "import type { C } from './c.js'; import './e.js';",
      'src/c.ts': "export type C = import('./a.js').A;",
      'src/d.ts': "import './d.js';",
      'src/e.ts': '',
      'src/f.ts': "import './a.js';",
    });
    expect(circles(graph)).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts'], ['src/d.ts']]);
  });

  it('let files import what is in lower layers only', () => {
    const layers = { src: [['main'], ['routes', 'live'], ['store']] };
    const graph = graphOf({
      'src/main.ts': "import './routes/login.js'; import './store/rows.js';",
      'src/routes/login.ts': "import './logout.js'; import '../store/rows.js';",
      'src/routes/logout.ts': "import '../live/hub.js';",
      'src/live/hub.ts': '',
      'src/store/rows.ts': "import type { Hub } from '../live/hub.js';",
      'src/stray.ts': '',
    });
    expect(violations(graph, layers)).toEqual([
      'src/stray.ts is in no layer of src',
      'src/routes/logout.ts → src/live/hub.ts: routes is in the same layer as live',
      'src/store/rows.ts → src/live/hub.ts: store is below live',
    ]);
  });

  it('are drawn: a box for each entry, and an arrow for what is imported', () => {
    const lines = [['routes'], ['store']];
    const graph = graphOf({ 'src/routes/a.ts': "import '../store/b.js';", 'src/store/b.ts': '' });
    const { arrows } = arrowsBetween(graph, 'src', lines);
    const image = drawing([{ title: 'src', lines, arrows }]);
    expect(image.match(/<rect/g)).toHaveLength(2);
    expect(image).toContain('<title>routes → store, 1:\nsrc/routes/a.ts → src/store/b.ts</title>');
  });

  it('know every package', () => {
    /** @type {{ workspaces: string[] }} */
    const { workspaces } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
    expect(LAYERS['.']?.flat()).toEqual(expect.arrayContaining(workspaces));
  });
});
