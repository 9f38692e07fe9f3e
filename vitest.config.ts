import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { menuOutlines } from './apps/web/menu-outlines.ts';

/** `isolate`: a file has a process and modules of its own. Loading those of the API takes a second for each file. */
const project = (
  name: string,
  root: string,
  include: readonly string[] = ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
  isolate = false,
) => ({
  test: {
    name,
    root,
    isolate,
    include: [...include],
    setupFiles: [path.join(import.meta.dirname, 'vitest.random.ts')],
    // Deadlines only catch what hangs: the machine may be busy with other things. A soak runs a hundred times the cases.
    testTimeout: process.env.TOLLWAY_SOAK === undefined ? 900_000 : 3_600_000,
    expect: { poll: { timeout: 90_000 } },
  },
});

/** Unit and API tests. The network tests have a configuration of their own. */
export default defineConfig({
  test: {
    // Most of the API's tests wait for other processes.
    maxWorkers: 2,
    projects: [
      project('schema', 'packages/schema'),
      project('protocol', 'packages/protocol'),
      // Those in folders test modules; those beside them run the API, whose modules keep what runs, or replace a module.
      project('api-modules', 'apps/api', ['test/*/**/*.test.ts']),
      project('api', 'apps/api', ['test/*.test.ts'], true),
      { ...project('web', 'apps/web'), plugins: [menuOutlines] },
      { test: { name: 'scripts', root: 'scripts', include: ['**/*.test.mjs'], isolate: false } },
    ],
  },
});
