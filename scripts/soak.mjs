// @ts-check
/**
 * `npm run soak`: what takes longer than `npm test` may. Random tests with fresh seeds, many times and with a hundred times
 * the cases; tests that only run here; the network tests while a build runs beside them. Every seed is printed: the same one
 * repeats a run.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildAgent, buildTypeScript } from './build.mjs';
import { cargoOnPath } from './check.mjs';
import {
  buildNeeds,
  ensureNode,
  ensureNodeModules,
  ensurePrograms,
  labNeeds,
  routerNeeds,
  testNeeds,
} from './install.mjs';
import { messageOf } from './process.mjs';
import { agentDir, cacheDir, main, UserError } from './project.mjs';
import { command, npmProgram, Sections } from './sections.mjs';

const USAGE = `usage: npm run soak [-- [--rounds N] [--factor N] [--network N] [--only rust,cases,api,network]]

  --rounds   times that the Rust tests run, each with a fresh seed (20)
  --factor   how many times the usual number of cases random tests run once (100)
  --network  times that the network tests run beside a build (3)
  --only     some of the parts: rust (the rounds), cases (Rust, factor), api (vitest, factor), network`;

const PARTS = ['rust', 'cases', 'api', 'network'];

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: 'string', default: '20' },
        factor: { type: 'string', default: '100' },
        network: { type: 'string', default: '3' },
        only: { type: 'string', default: PARTS.join(',') },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const count = (/** @type {'rounds' | 'factor' | 'network'} */ name) => {
      if (!/^[1-9]\d{0,5}$/.test(values[name])) throw new Error(`--${name} takes a number from 1 to 999999`);
      return Number(values[name]);
    };
    const only = values.only.split(',');
    for (const part of only) {
      if (!PARTS.includes(part)) throw new Error(`--only takes ${PARTS.join(', ')}; this is ${part}`);
    }
    return { rounds: count('rounds'), factor: count('factor'), network: count('network'), only, help: values.help };
  } catch (error) {
    throw new UserError(`${messageOf(error)}\n\n${USAGE}`, 2);
  }
}

/**
 * The environment of a run with a fresh seed.
 * @param {number} [factor] times the usual number of cases
 */
function fresh(factor) {
  const seed = String(randomInt(2 ** 31));
  console.log(`seed ${seed}`);
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, PROPTEST_RNG_SEED: seed, TOLLWAY_SEED: seed };
  // PROPTEST_CASES would take the place of the number of cases that a test gives itself, whatever that is.
  delete env.PROPTEST_CASES;
  if (factor !== undefined) env.TOLLWAY_SOAK = String(factor);
  return env;
}

/** @param {NodeJS.ProcessEnv} env */
const rustTests = (env) =>
  command('cargo', ['test', '--locked', '--workspace', '--profile', 'checked', '--quiet', '--no-fail-fast'], {
    cwd: agentDir,
    env,
  });

/**
 * Runs `body` while the agent is built again and again from nothing.
 * @param {() => Promise<void>} body
 */
async function besideBuild(body) {
  const target = path.join(cacheDir, 'soak-target');
  let over = false;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let build;
  const again = () => {
    if (over) return;
    rmSync(target, { recursive: true, force: true });
    build = spawn('cargo', ['build', '--locked', '--workspace', '--quiet', '--target-dir', target], {
      cwd: agentDir,
      stdio: 'ignore',
      detached: true,
    });
    build.on('close', again);
  };
  again();
  try {
    await body();
  } finally {
    over = true;
    if (build?.pid !== undefined && build.exitCode === null) process.kill(-build.pid, 'SIGKILL');
    rmSync(target, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

process.env.TOLLWAY_CARGO_PROFILE = 'checked';

await main(async () => {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  ensureNode();
  if (process.getuid?.() !== 0) throw new UserError('npm run soak needs root: its tests make network namespaces');
  const asked = (/** @type {string} */ part) => options.only.includes(part);
  const sections = new Sections();
  await sections.run(
    'install and build',
    async () => {
      await ensurePrograms([...buildNeeds, ...routerNeeds, ...labNeeds, ...testNeeds]);
      cargoOnPath();
      await ensureNodeModules();
      await buildAgent();
      await buildTypeScript();
    },
    { needed: true },
  );
  for (let round = 1; asked('rust') && round <= options.rounds; round += 1) {
    await sections.run(`Rust tests, round ${round} of ${options.rounds}`, () => rustTests(fresh()));
  }
  if (asked('cases')) {
    await sections.run(`Rust tests, ${options.factor} times the cases`, () => rustTests(fresh(options.factor)));
  }
  if (asked('api')) {
    await sections.run(`unit and API tests, ${options.factor} times the cases`, () =>
      npmProgram('vitest', ['run'], { env: fresh(options.factor) }),
    );
  }
  for (let round = 1; asked('network') && round <= options.network; round += 1) {
    await sections.run(`network tests beside a build, round ${round} of ${options.network}`, () =>
      besideBuild(() =>
        npmProgram('vitest', ['run', '--config', 'tests/network/vitest.config.ts'], {
          env: { ...process.env, TOLLWAY_SOAK: String(options.factor) },
        }),
      ),
    );
  }
  return sections.finish();
});
