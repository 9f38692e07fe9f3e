// @ts-check
/** `npm run bench`: the engine on memory frames, and the agent against the Linux kernel router. See docs/bench/README.md. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CASES, selectCases } from './bench/cases.mjs';
import { runEngineCase } from './bench/engine.mjs';
import { Lab, whyNoLab } from './bench/lab.mjs';
import { formatDetails, formatTable } from './bench/report.mjs';
import { runWireCase } from './bench/wire.mjs';
import { buildAgent } from './build.mjs';
import { buildNeeds, ensureNode, ensureNodeModules, ensurePrograms, ensureRust } from './install.mjs';
import { runLong } from './process.mjs';
import { agentDir, main, UserError } from './project.mjs';

const USAGE = `usage: npm run bench [-- [--case PATTERN[,PATTERN…]] [--json FILE] [--quick]]

  --case    only cases that match: a name, a prefix or a glob (engine/*, wire/iperf3)
  --json    also write the results to FILE
  --quick   shorter runs, wider error bars

cases: ${CASES.map((entry) => entry.name).join(', ')}`;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        case: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return { help: values.help, cases: selectCases(values.case), json: values.json, quick: values.quick };
  } catch (error) {
    throw new UserError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`, 2);
  }
}

/** Progress and remarks; standard output is for the results. @param {string} line */
const note = (line) => process.stderr.write(`${line}\n`);

/** @returns {Promise<string>} path of the program with the engine cases, the generator and the agent's client */
async function buildBench() {
  const cargo = path.join(ensureRust(), 'cargo');
  await ensurePrograms(buildNeeds);
  const args = ['build', '--quiet', '--release', '--package', 'tollway-bench'];
  await runLong('building tollway-bench (Rust, about 2 minutes the first time)', cargo, args, { cwd: agentDir });
  return path.join(process.env.CARGO_TARGET_DIR ?? path.join(agentDir, 'target'), 'release', 'tollway-bench');
}

/**
 * @param {import('./bench/cases.mjs').Case} entry
 * @param {{ bench: string, quick: boolean }} options
 */
async function runCase(entry, { bench, quick }) {
  if (entry.kind === 'engine') return runEngineCase(entry, { bench, quick });
  const lab = new Lab(bench);
  try {
    return await runWireCase(entry, { lab, quick, note });
  } finally {
    await lab.remove();
  }
}

await main(async () => {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  ensureNode();
  const noLab = options.cases.some((entry) => entry.kind === 'wire') ? await whyNoLab() : undefined;
  const cases = options.cases.filter((entry) => entry.kind !== 'wire' || noLab === undefined);
  for (const entry of options.cases) if (!cases.includes(entry)) note(`${entry.name}: skipped, ${noLab}`);
  if (cases.length === 0) return 1;

  const bench = await buildBench();
  if (cases.some((entry) => entry.kind === 'wire')) {
    await ensureNodeModules();
    await buildAgent();
  }
  /** @type {import('./bench/report.mjs').Result[]} */
  const results = [];
  for (const entry of cases) {
    note(`• measuring ${entry.name}`);
    try {
      results.push(await runCase(entry, { bench, quick: options.quick }));
    } catch (error) {
      note(`${entry.name} failed: ${error instanceof Error ? error.message : error}`);
    }
  }
  console.log(`\n${formatDetails(results)}${formatTable(results)}`);
  if (options.json !== undefined) {
    const shown = results.map(({ details, ...result }) => result);
    writeFileSync(options.json, `${JSON.stringify({ cases: shown }, undefined, 2)}\n`);
  }
  return results.length === cases.length ? 0 : 1;
});
