// @ts-check
/** `npm run check`: format, lint, types, licences and sources of dependencies, generated files fresh. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateDatabaseClient } from './build.mjs';
import { buildNeeds, ensureNode, ensureNodeModules, ensurePrograms, ensureRust } from './install.mjs';
import { runLong } from './process.mjs';
import { agentDir, cacheDir, main } from './project.mjs';
import { command, npmProgram, Sections } from './sections.mjs';

const cargoDeny = path.join(cacheDir, 'tools', 'bin', 'cargo-deny');

/** Puts the folder of cargo on PATH, for this process and what it starts. */
export function cargoOnPath() {
  process.env.PATH = `${ensureRust()}:${process.env.PATH}`;
}

/** Builds cargo-deny into the project's cache when it is missing. */
export async function ensureCargoDeny() {
  if (existsSync(cargoDeny)) return;
  await runLong(
    'building cargo-deny, which checks licences and sources (once, about 3 minutes)',
    'cargo',
    // Unoptimised: it runs for a second and builds in a third of the time.
    ['install', 'cargo-deny', '--locked', '--debug', '--root', path.join(cacheDir, 'tools')],
    { env: { ...process.env, CARGO_PROFILE_DEV_DEBUG: '0' }, everyMs: 20_000 },
  );
}

const inAgent = { cwd: agentDir };

/** The lint of the agent. */
export const rustLint = {
  title: 'Rust lint (clippy)',
  body: (/** @type {NodeJS.WritableStream | undefined} */ out = undefined) => {
    const args = ['clippy', '--locked', '--workspace', '--all-targets', '--quiet', '--', '-D', 'warnings'];
    return command('cargo', args, { ...inAgent, ...(out && { out }) });
  },
};

/** @param {Sections} sections what is checked before anything is built */
export async function checkSources(sections) {
  await sections.run('format and lint (biome)', () => npmProgram('biome', ['ci', '--error-on-warnings', '.']));
  await sections.run('types (tsc)', async () => {
    await generateDatabaseClient();
    await npmProgram('tsc', ['-b']);
    for (const project of ['scripts', 'apps/web', 'tests/network', 'e2e']) {
      await npmProgram('tsc', ['--noEmit', '-p', `${project}/tsconfig.json`]);
    }
    for (const project of ['packages/schema', 'apps/api'])
      await npmProgram('tsc', ['-p', `${project}/tsconfig.test.json`]);
  });
  await sections.run('Rust format', () => command('cargo', ['fmt', '--all', '--check'], inAgent));
  await sections.run('licences and sources (cargo deny)', async () => {
    await ensureCargoDeny();
    await command(cargoDeny, ['--log-level', 'error', '--workspace', 'check', 'licenses', 'sources', 'bans'], inAgent);
  });
  await sections.run('generated files are fresh', () => command('npm', ['run', '--silent', 'check'], inAgent));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(async () => {
    const sections = new Sections();
    await sections.run(
      'install',
      async () => {
        ensureNode();
        await ensurePrograms(buildNeeds);
        cargoOnPath();
        await ensureNodeModules();
      },
      { needed: true },
    );
    await checkSources(sections);
    await sections.run(rustLint.title, () => rustLint.body());
    return sections.finish();
  });
}
