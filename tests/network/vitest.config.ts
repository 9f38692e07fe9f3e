import { defineConfig } from 'vitest/config';

/** Files that measure time or rates. What a busy machine has spoilt is measured again, twice at most. */
const MEASURING = [
  'idle.test.ts',
  'profile.test.ts',
  'queue-changes.test.ts',
  'queue-rates.test.ts',
  'queue-trees.test.ts',
  'queues.test.ts',
  'rule-changes.test.ts',
];

/**
 * Black-box tests: the real agent and API, real packets between network namespaces. One file at a time:
 * some measure time, and a router that starts takes away what killed ones of other files have left.
 */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    fileParallelism: false,
    // Deadlines only catch what hangs: the machine may be busy with other things.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 90_000 } },
    projects: [
      { extends: true, test: { name: 'network', include: ['*.test.ts'], exclude: MEASURING } },
      { extends: true, test: { name: 'measuring', include: MEASURING, retry: 2 } },
    ],
  },
});
