import { defineConfig } from 'vitest/config';

const project = (name: string, root: string) => ({
  test: { name, root, include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'] },
});

/** Unit and API tests. The network tests have a configuration of their own. */
export default defineConfig({
  test: {
    projects: [
      project('schema', 'packages/schema'),
      project('api', 'apps/api'),
      project('web', 'apps/web'),
      { test: { name: 'scripts', root: 'scripts', include: ['**/*.test.mjs'] } },
    ],
  },
});
