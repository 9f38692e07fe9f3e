// @ts-check
/**
 * `npm test`: everything. Installs what is missing; one Rust profile (`checked`) for unit tests and for the
 * addon under the network tests, one TypeScript build.
 */
import path from 'node:path';
import { buildAgent, buildTypeScript } from './build.mjs';
import { cargoInBackground, cargoOnPath, checkSources, rustLint } from './check.mjs';
import {
  buildNeeds,
  ensureNode,
  ensureNodeModules,
  ensurePrograms,
  labNeeds,
  routerNeeds,
  testNeeds,
} from './install.mjs';
import { agentDir, inProject, main, UserError } from './project.mjs';
import { command, npmProgram, Sections } from './sections.mjs';
import { registryDir } from './start/paths.mjs';

process.env.TOLLWAY_CARGO_PROFILE = 'checked';

/**
 * Runs a program of an npm package with a separate register of routers and separate names of network namespaces: a
 * router that starts removes leftovers of killed ones, and tests that run at the same time examine their leftovers.
 * @param {string} name
 * @param {readonly string[]} args
 * @param {NodeJS.WritableStream} out
 */
function isolated(name, args, out) {
  const folders = [registryDir, '/run/netns'];
  const mounts = folders.map((folder) => `mkdir -p ${folder} && mount -t tmpfs -o mode=755 tollway ${folder}`);
  const script = `${mounts.join(' && ')} && exec "$@"`;
  const program = inProject('node_modules', '.bin', name);
  return command('unshare', ['--mount', 'sh', '-c', script, 'sh', program, ...args], { out });
}

const rustTests = ['test', '--locked', '--workspace', '--tests', '--profile', 'checked', '--quiet'];

/**
 * @param {string} title
 * @param {readonly string[]} which of their configuration
 * @returns {import('./sections.mjs').Part}
 */
const networkTests = (title, ...which) => ({
  title,
  body: (out) => isolated('vitest', ['run', '--config', 'tests/network/vitest.config.ts', ...which], out),
});

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
  // Tests that wait for packets, processes or a browser leave cores to compilers, which have a lower priority: all of them
  // pass beside a build, and a soak runs them that way on purpose.
  await sections.together(
    [
      rustLint,
      { title: 'Rust tests, compiled', body: (out) => cargoInBackground([...rustTests, '--no-run'], out) },
      { title: 'Rust tests', body: (out) => command('cargo', rustTests, { cwd: agentDir, out }) },
      {
        title: 'orders in which threads may meet (loom)',
        body: (out) => {
          const args = ['test', '--locked', '--quiet'];
          return command('cargo', args, { cwd: path.join(agentDir, 'interleaving'), out });
        },
      },
    ],
    [{ title: 'unit and API tests (vitest)', body: (out) => npmProgram('vitest', ['run'], { out }) }],
    // They wait most of the time: one after the other they would take longer than all else together.
    [
      networkTests('network tests that measure', '--project', 'measuring'),
      networkTests('network tests, second half', '--project', 'network', '--shard', '2/2'),
    ],
    [networkTests('network tests, first half', '--project', 'network', '--shard', '1/2')],
    [
      {
        title: 'end to end (Playwright)',
        body: (out) => isolated('playwright', ['test', '--config', 'e2e/playwright.config.ts'], out),
      },
    ],
  );
  return sections.finish();
});
