// @ts-check
/** `npm run bench`: the engine, the agent against the Linux kernel router, and the browser. See docs/bench/README.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildThere, checkOut, compareEngineCase, formatComparisons, verdict } from './bench/against.mjs';
import { CASES, selectCases } from './bench/cases.mjs';
import { drawCurves, formatCurves, measureCurves } from './bench/curves.mjs';
import { runEngineCase } from './bench/engine.mjs';
import { countInstructions, formatCounts } from './bench/instructions.mjs';
import { Lab, whyNoLab } from './bench/lab.mjs';
import { formatDetails, formatTable } from './bench/report.mjs';
import { runWireCase } from './bench/wire.mjs';
import { build, buildAgent } from './build.mjs';
import { browserNeeds, buildNeeds, ensureNode, ensureNodeModules, ensurePrograms, ensureRust } from './install.mjs';
import { messageOf, runLong } from './process.mjs';
import { agentDir, main, UserError } from './project.mjs';

const USAGE = `usage: npm run bench [-- [PATTERN[,PATTERN…]] [--json FILE] [--quick] [--minutes N]]
       npm run bench -- --against REF [--case PATTERN] [--rounds N] [--json FILE] [--quick]
                                        engine cases of this tree and of another commit, in turns
       npm run bench -- instructions [--against REF]
                                        instructions per packet by callgrind
       npm run bench -- curves [--json FILE] [--plot FILE] [--quick]
                                        ns per packet against rules, routes, flows, frame size and workers

  PATTERN    only cases that match: a name, a prefix or a glob (engine/*, wire/iperf3); --case PATTERN says the same
  --plot     also draw the curves into FILE (SVG)
  --json     also write the results to FILE
  --quick    shorter runs, wider error bars
  --minutes  how long the windows of the browser case stay open (10)
  --against  a commit, as git names it; it is built beside this one. Exit code 1 when a case is more than 2 % slower here
  --rounds   pairs of runs with --against (9)

cases: ${CASES.map((entry) => entry.name).join(', ')}`;

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        case: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
        plot: { type: 'string' },
        quick: { type: 'boolean', default: false },
        minutes: { type: 'string' },
        against: { type: 'string' },
        rounds: { type: 'string', default: '9' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const minutes = Number(values.minutes ?? (values.quick ? 2 : 10));
    if (!(minutes >= 0.5 && minutes <= 1440)) throw new Error('--minutes takes a number from 0.5 to 1440');
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
      throw new Error('--rounds takes a number from 1 to 1000');
    const only = (/** @type {string} */ word) => positionals.length === 1 && positionals[0] === word;
    const [instructions, curves] = [only('instructions'), only('curves')];
    const cases = instructions || curves ? [] : selectCases([...positionals, ...values.case]);
    return {
      help: values.help,
      instructions,
      curves,
      against: values.against,
      rounds,
      plot: values.plot,
      cases,
      json: values.json,
      quick: values.quick,
      minutes,
    };
  } catch (error) {
    throw new UserError(`${messageOf(error)}\n\n${USAGE}`, 2);
  }
}

/** Prints progress and remarks to standard error; standard output is for the results. @param {string} line */
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
 * @param {{ bench: string, quick: boolean, minutes: number }} options
 * @returns {Promise<import('./bench/report.mjs').Result[]>}
 */
async function runCase(entry, { bench, quick, minutes }) {
  if (entry.kind === 'engine') return [await runEngineCase(entry, { bench, quick })];
  if (entry.kind === 'browser') {
    // Loaded on demand, as npm packages may have to be installed first.
    const { runBrowserCase } = await import('./bench/browser.mjs');
    return runBrowserCase({ minutes, note });
  }
  const lab = new Lab(bench);
  try {
    return [await runWireCase(entry, { lab, quick, note })];
  } finally {
    await lab.remove();
  }
}

/**
 * Machine on which the results were measured. The processor name of a virtual machine often applies to several
 * generations, so that its model numbers are reported as well (/proc/cpuinfo; only on x86).
 */
function machine() {
  const cores = cpus();
  const described = readFileSync('/proc/cpuinfo', 'utf8');
  const numbers = ['cpu family', 'model', 'stepping'].flatMap((name) => {
    const value = new RegExp(`^${name}\\s*: (\\d+)$`, 'm').exec(described)?.[1];
    return value === undefined ? [] : [`${name.replace('cpu ', '')} ${value}`];
  });
  const cpu = [cores[0]?.model ?? 'unknown', ...numbers].join(', ');
  return { cpu, cores: cores.length, kernel: release() };
}

/**
 * Measures cases one after the other; a failure is noted, and the next ones still run.
 * @template {{ name: string }} Entry
 * @param {readonly Entry[]} entries @param {string} where behind the name of each
 * @param {(entry: Entry) => Promise<void>} measure
 * @returns {Promise<boolean>} whether one failed
 */
async function measureEach(entries, where, measure) {
  let failed = false;
  for (const entry of entries) {
    note(`• measuring ${entry.name}${where}`);
    try {
      await measure(entry);
    } catch (error) {
      failed = true;
      note(`${entry.name} failed: ${messageOf(error)}`);
    }
  }
  return failed;
}

/**
 * Writes a value to the file of `--json`, if the option is given. @param {string | undefined} file @param {object}
 * value
 */
function writeJson(file, value) {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Runs the engine cases of this tree and of another commit in turns.
 * @param {ReturnType<typeof readOptions>} options
 * @param {string} ref
 * @returns {Promise<number>} exit code
 */
async function compare(options, ref) {
  const cases = options.cases.filter((entry) => entry.kind === 'engine');
  for (const entry of options.cases) {
    if (entry.kind !== 'engine') note(`${entry.name}: skipped, --against runs engine cases`);
  }
  if (cases.length === 0) return 1;
  const other = checkOut(ref);
  const here = await buildBench();
  const there = await buildThere(path.join(ensureRust(), 'cargo'), other.agent);
  /** @type {import('./bench/against.mjs').Comparison[]} */
  const comparisons = [];
  const failed = await measureEach(cases, ', here and there', async (entry) => {
    const { rounds, quick } = options;
    const comparison = await compareEngineCase(entry, { here, there, rounds, quick });
    if (comparison === undefined) note(`${entry.name}: skipped, the other commit does not have it`);
    else comparisons.push(comparison);
  });
  console.log(`\n${formatComparisons(comparisons, other.commit)}`);
  writeJson(options.json, { machine: machine(), against: other.commit, cases: comparisons });
  return failed || comparisons.some((comparison) => verdict(comparison) === 'slower') ? 1 : 0;
}

await main(async () => {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  ensureNode();
  if (options.instructions) {
    const there = options.against === undefined ? undefined : checkOut(options.against);
    const counts = await countInstructions(agentDir);
    console.log(formatCounts(counts, there && (await countInstructions(there.agent))));
    return 0;
  }
  if (options.against !== undefined) return compare(options, options.against);
  if (options.curves) {
    const plots = await measureCurves(await buildBench(), { quick: options.quick, note });
    console.log(formatCurves(plots));
    writeJson(options.json, { plots });
    if (options.plot !== undefined) writeFileSync(options.plot, drawCurves(plots));
    return 0;
  }
  const noLab = options.cases.some((entry) => entry.kind !== 'engine') ? await whyNoLab() : undefined;
  const cases = options.cases.filter((entry) => entry.kind === 'engine' || noLab === undefined);
  for (const entry of options.cases) if (!cases.includes(entry)) note(`${entry.name}: skipped, ${noLab}`);
  if (cases.length === 0) return 1;

  const asked = (/** @type {string} */ kind) => cases.some((entry) => entry.kind === kind);
  const bench = asked('engine') || asked('wire') ? await buildBench() : '';
  if (asked('browser')) {
    await ensurePrograms(browserNeeds);
    await build();
  } else if (asked('wire')) {
    await ensureNodeModules();
    await buildAgent();
  }
  /** @type {import('./bench/report.mjs').Result[]} */
  const results = [];
  const failed = await measureEach(cases, '', async (entry) => {
    results.push(...(await runCase(entry, { ...options, bench })));
  });
  console.log(`\n${formatDetails(results)}${formatTable(results)}`);
  const shown = results.map(({ details, ...result }) => result);
  writeJson(options.json, { machine: machine(), cases: shown });
  return failed ? 1 : 0;
});
