import { defineConfig } from 'vitest/config';

/**
 * Black-box tests: the real agent and API, real packets between network namespaces. One file at a time, for
 * they measure time on the same few cores.
 */
export default defineConfig({
  test: {
    name: 'network',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 90_000,
  },
});
