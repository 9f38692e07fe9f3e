import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** `isolate`: a file has modules of its own. Those of the API keep what runs; loading them takes a second for each file. */
const project = (name: string, root: string, isolate = false) => ({
  test: {
    name,
    root,
    isolate,
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
    setupFiles: [path.join(import.meta.dirname, 'vitest.random.ts')],
    // Deadlines only catch what hangs: the machine may be busy with other things. A soak runs a hundred times the cases.
    testTimeout: process.env.TOLLWAY_SOAK === undefined ? 60_000 : 1_800_000,
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
      project('api', 'apps/api', true),
      project('web', 'apps/web'),
      { test: { name: 'scripts', root: 'scripts', include: ['**/*.test.mjs'], isolate: false } },
    ],
  },
});
