// @ts-check
/** `--against REF`: builds another commit of the project, and measures both commits in turns. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { run, runLong } from '../process.mjs';
import { cacheDir, inProject, UserError } from '../project.mjs';
import { runEngineCase } from './engine.mjs';
import { median } from './samples.mjs';

/** Checkouts of other commits, each with its build results; the most recently used ones are kept. */
const checkouts = path.join(cacheDir, 'against');
const KEPT = 3;
/** Upper bound of the interval of a ratio below which the case counts as slower. */
const TOLERATED = 0.98;

/**
 * The interval holds the median of the ratio with `confidence`.
 * @typedef {{ name: string, unit: string, here: number, there: number, ratio: number, low: number, high: number, confidence: number }} Comparison
 */

/**
 * Checks a commit out below the cache, without its history.
 * @param {string} ref whatever git takes for a commit
 * @returns {{ commit: string, agent: string }} its whole name, and the folder of its Cargo workspace
 * @throws UserError when there is no such commit
 */
export function checkOut(ref) {
  const found = run(
    'git',
    ['-C', inProject(), 'rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`],
    {
      allowFailure: true,
    },
  );
  const commit = found.stdout.trim();
  if (!/^[0-9a-f]{40,64}$/.test(commit))
    throw new UserError(`--against takes a commit; git knows none named ${ref}`, 2);
  const folder = path.join(checkouts, commit);
  if (!existsSync(folder)) {
    mkdirSync(checkouts, { recursive: true });
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part);
    const archive = path.join(part, 'commit.tar');
    run('git', ['-C', inProject(), 'archive', '--format=tar', `--output=${archive}`, commit]);
    run('tar', ['-xf', archive, '-C', part]);
    rmSync(archive);
    renameSync(part, folder);
  }
  utimesSync(folder, new Date(), new Date());
  removeOld();
  return { commit, agent: path.join(folder, 'packages', 'dataplane-agent') };
}

function removeOld() {
  const folders = readdirSync(checkouts).map((name) => path.join(checkouts, name));
  const used = (/** @type {string} */ folder) => statSync(folder).mtimeMs;
  for (const old of folders.sort((a, b) => used(b) - used(a)).slice(KEPT))
    rmSync(old, { recursive: true, force: true });
}

/** @param {string} cargo @param {string} agent Cargo workspace of the commit @returns {Promise<string>} its `tollway-bench` */
export async function buildThere(cargo, agent) {
  await runLong(
    'building tollway-bench of the other commit (Rust, about 3 minutes the first time)',
    cargo,
    [
      'build',
      '--locked',
      '--quiet',
      '--release',
      '--package',
      'tollway-bench',
      '--target-dir',
      path.join(agent, 'target'),
    ],
    { cwd: agent },
  );
  return path.join(agent, 'target', 'release', 'tollway-bench');
}

/**
 * Runs one engine case of both commits in turns, each pair in the other order than the one before.
 * @param {import('./cases.mjs').EngineCase} entry
 * @param {{ here: string, there: string, rounds: number, quick: boolean }} options programs, and how many pairs
 * @returns {Promise<Comparison | undefined>} undefined when the other commit does not have the case
 */
export async function compareEngineCase(entry, { here, there, rounds, quick }) {
  /** @type {{ here: number, there: number }[]} */
  const pairs = [];
  let unit = '';
  let lessIsBetter = false;
  const take = async (/** @type {string} */ bench) => {
    const result = await runEngineCase(entry, { bench, quick });
    unit = result.unit;
    lessIsBetter = Math.abs(result.ratio - result.ours / result.baseline) > 1e-6 * result.ratio;
    return result.ours;
  };
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const first = await take(here);
      const second = await take(there).catch((error) => {
        if (!saysUnknown(error, entry.name)) throw error;
      });
      if (second === undefined) return undefined;
      pairs.push({ here: first, there: second });
    } else {
      const first = await take(there);
      pairs.push({ here: await take(here), there: first });
    }
  }
  return {
    name: entry.name,
    unit,
    here: median(pairs.map((pair) => pair.here)),
    there: median(pairs.map((pair) => pair.there)),
    ...interval(pairs.map((pair) => (lessIsBetter ? pair.there / pair.here : pair.here / pair.there))),
  };
}

/**
 * Whether the last output of a program says that it does not have a case. @param {unknown} error @param {string} name
 */
function saysUnknown(error, name) {
  return error instanceof Error && error.message.includes(`unknown case "${name}"`);
}

/**
 * The median of samples, and the narrowest pair of order statistics that holds the true one with 95 %; with fewer than six
 * samples the first and the last, and how sure that is (David and Nagaraja, Order Statistics, 3rd ed., 7.1).
 * @param {readonly number[]} samples at least one
 * @returns {{ ratio: number, low: number, high: number, confidence: number }}
 */
export function interval(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const count = sorted.length;
  let [below, term, place, confidence] = [0, 0.5 ** count, 0, 0];
  for (let rank = 0; rank < count / 2; rank += 1) {
    below += term;
    term *= (count - rank) / (rank + 1);
    const sure = 1 - 2 * below;
    if (rank > 0 && sure < 0.95) break;
    [place, confidence] = [rank, sure];
  }
  return {
    ratio: median(sorted),
    low: sorted[place] ?? Number.NaN,
    high: sorted[count - 1 - place] ?? Number.NaN,
    confidence: Math.max(0, confidence),
  };
}

/** Sentence about a comparison. @param {Comparison} comparison */
export function verdict({ low, high }) {
  if (high < TOLERATED) return 'slower';
  if (low >= TOLERATED) return low > 1 ? 'faster' : 'not slower';
  return 'not known: the interval is too wide';
}

/** @param {readonly Comparison[]} comparisons @param {string} commit */
export function formatComparisons(comparisons, commit) {
  const name = Math.max(4, ...comparisons.map((comparison) => comparison.name.length));
  const lines = comparisons.map((comparison) => {
    const { ratio, low, high } = comparison;
    const numbers = `${ratio.toFixed(3)}  [${low.toFixed(3)}, ${high.toFixed(3)}]`;
    return `${comparison.name.padEnd(name)}  ${numbers}  ${verdict(comparison)}`;
  });
  const sure = Math.min(1, ...comparisons.map((comparison) => comparison.confidence));
  const head = `against ${commit.slice(0, 12)}: ratio and interval of at least ${(100 * sure).toFixed(0)} %, above 1 when this commit is better`;
  return [head, ...lines].join('\n');
}
