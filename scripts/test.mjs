// @ts-check
/**
 * `npm test`: everything. Installs what is missing; one Rust profile (`checked`) for unit tests and for the
 * addon under the network tests, one TypeScript build.
 */
import path from 'node:path';
import { buildAgent, buildTypeScript } from './build.mjs';
import { cargoOnPath, checkSources, rustLint } from './check.mjs';
import {
  buildNeeds,
  ensureNode,
  ensureNodeModules,
  ensurePrograms,
  labNeeds,
  routerNeeds,
  testNeeds,
} from './install.mjs';
import { agentDir, main, UserError } from './project.mjs';
import { command, npmProgram, Sections } from './sections.mjs';

process.env.TOLLWAY_CARGO_PROFILE = 'checked';

await main(async () => {
  ensureNode();
  if (process.getuid?.() !== 0) {
    throw new UserError('npm test needs root: its network tests make network namespaces. Without root: npm run check');
  }
  const sections = new Sections();
  await sections.run(
    'install',
    async () => {
      await ensurePrograms([...buildNeeds, ...routerNeeds, ...labNeeds, ...testNeeds]);
      cargoOnPath();
      await ensureNodeModules();
    },
    { needed: true },
  );
  await checkSources(sections);
  await sections.run(
    'build',
    async () => {
      await buildAgent();
      await buildTypeScript();
    },
    { needed: true },
  );
  // The network tests mostly wait for packets, and hold beside a build: a soak has them run so on purpose.
  await sections.together(
    [
      rustLint,
      {
        title: 'Rust tests',
        body: (out) => {
          const args = ['test', '--locked', '--workspace', '--profile', 'checked', '--quiet'];
          return command('cargo', args, { cwd: agentDir, out });
        },
      },
      {
        title: 'orders in which threads may meet (loom)',
        body: (out) => {
          const args = ['test', '--locked', '--quiet'];
          return command('cargo', args, { cwd: path.join(agentDir, 'interleaving'), out });
        },
      },
    ],
    [
      {
        title: 'network tests',
        body: (out) => npmProgram('vitest', ['run', '--config', 'tests/network/vitest.config.ts'], { out }),
      },
    ],
  );
  await sections.run('unit and API tests (vitest)', () => npmProgram('vitest', ['run']));
  await sections.run('end to end (Playwright)', () =>
    npmProgram('playwright', ['test', '--config', 'e2e/playwright.config.ts']),
  );
  return sections.finish();
});
