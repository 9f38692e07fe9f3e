// @ts-check
/**
 * `npm run check`: format, lint, types, imports, licences and sources of dependencies, generated files fresh.
 * `npm run check -- --graph` draws the import graphs instead.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateDatabaseClient } from './build.mjs';
import { buildNeeds, ensureNode, ensureNodeModules, ensurePrograms, ensureRust } from './install.mjs';
import { agentDir, cacheDir, inProject, main } from './project.mjs';
import { command, npmProgram, Sections } from './sections.mjs';

/** Adds the folder of cargo to PATH, for this process and its children. */
export function cargoOnPath() {
  process.env.PATH = `${ensureRust()}:${process.env.PATH}`;
}

/** The script that checks the imports of the TypeScript side. */
const importGraph = inProject('scripts', 'graph', 'graph.mjs');

const inAgent = { cwd: agentDir };

/** @typedef {import('./sections.mjs').Part} Part */

/**
 * Runs a command of cargo that only computes, at a lower priority (nice(1)) than what waits for packets or a browser.
 * @param {readonly string[]} args @param {NodeJS.WritableStream} out
 */
export const cargoInBackground = (args, out) => command('nice', ['-n', '5', 'cargo', ...args], { ...inAgent, out });

/** The lint of the agent. @type {Part} */
export const rustLint = {
  title: 'Rust lint (clippy)',
  body: (out) => {
    const packages = [
      '--locked',
      '--workspace',
      '--profile',
      'checked',
      '--features',
      'tollway-bench/instructions',
      '--all-targets',
    ];
    return cargoInBackground(['clippy', ...packages, '--quiet', '--', '-D', 'warnings'], out);
  },
};

/** @type {readonly Part[]} */
const typeScript = [
  {
    title: 'format and lint (biome)',
    body: (out) => npmProgram('biome', ['ci', '--error-on-warnings', '.'], { out }),
  },
  {
    title: 'types (tsc)',
    body: async (out) => {
      await generateDatabaseClient();
      await npmProgram('tsc', ['-b'], { out });
      for (const project of ['scripts', 'apps/web', 'tests/network', 'e2e']) {
        await npmProgram('tsc', ['--noEmit', '-p', `${project}/tsconfig.json`], { out });
      }
      for (const project of ['packages/schema', 'packages/protocol', 'apps/api'])
        await npmProgram('tsc', ['-p', `${project}/tsconfig.test.json`], { out });
    },
  },
  {
    title: 'imports (no circle, no arrow upwards)',
    body: (out) => command(process.execPath, [importGraph], { out }),
  },
];

/** @type {readonly Part[]} */
const rust = [
  { title: 'Rust format', body: (out) => command('cargo', ['fmt', '--all', '--check'], { ...inAgent, out }) },
  {
    title: 'licences and sources of crates',
    // The library that it needs is not there yet when a fresh clone loads this file.
    body: async (out) => (await import('./crates.mjs')).checkCrates(out),
  },
  {
    title: 'generated files are fresh',
    body: (out) => command('npm', ['run', '--silent', 'check'], { ...inAgent, out }),
  },
];

/** @param {Sections} sections what is checked before anything is built */
export async function checkSources(sections) {
  // The type checks use one core.
  await sections.together(typeScript, rust);
}

/** Draws the import graphs, one drawing for each language. */
async function drawGraphs() {
  await generateDatabaseClient();
  const file = path.join(cacheDir, 'graph', 'typescript.svg');
  await command(process.execPath, [importGraph, '--draw', file]);
  console.log(`The import graph of the TypeScript side is drawn in ${path.relative(inProject(), file)}.`);
  // The crates' own tests of their modules parse the imports, and draw them as Mermaid flow charts.
  const charts = path.join(cacheDir, 'graph');
  const test = ['test', '--locked', '--quiet', '--profile', 'checked'];
  const others = ['wire', 'io', 'worker', 'bench', 'testkit'].flatMap((name) => ['-p', `tollway-${name}`]);
  const inCharts = { ...inAgent, env: { ...process.env, TOLLWAY_GRAPH: charts } };
  await command('cargo', [...test, '-p', 'tollway-engine', '--test', 'all', 'modules'], inCharts);
  await command('cargo', [...test, ...others, '--lib', 'modules'], inCharts);
  console.log(`The modules of each crate are drawn in ${path.relative(inProject(), charts)}.`);
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
    if (process.argv.includes('--graph')) await sections.run('import graph', drawGraphs);
    else {
      await checkSources(sections);
      await sections.together([rustLint]);
    }
    return sections.finish();
  });
}
