// @ts-check
/** Instructions per packet: the engine under callgrind, driven by gungraun. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { buildNeeds, ensurePrograms, ensureRust, instructionNeeds } from '../install.mjs';
import { runLong } from '../process.mjs';
import { agentDir } from '../project.mjs';
import { runAsync } from './background.mjs';

/** Version of the runner, which must be that of the library in `crates/bench/Cargo.toml`. */
const RUNNER = '0.20.0';
/** Packets counted per case, `Steady::PACKETS`. */
const PACKETS = 1024;

/**
 * Counts how many instructions of the engine a packet of each case takes.
 * @param {string} agent Cargo workspace of the agent, of this commit or another
 * @returns {Promise<{ name: string, instructions: number }[]>} instructions a packet
 */
export async function countInstructions(agent) {
  const cargo = path.join(ensureRust(), 'cargo');
  await ensurePrograms([...buildNeeds, ...instructionNeeds]);
  const root = path.join(process.env.CARGO_TARGET_DIR ?? path.join(agentDir, 'target'), 'gungraun-runner');
  const runner = path.join(root, 'bin', 'gungraun-runner');
  if (!existsSync(runner)) {
    const install = ['install', '--quiet', '--root', root, '--version', RUNNER, 'gungraun-runner'];
    await runLong('installing gungraun-runner (Rust, about a minute)', cargo, install);
  }
  process.env.GUNGRAUN_RUNNER = runner;
  process.env.GUNGRAUN_COLOR = 'never';
  const manifest = path.join(agent, 'Cargo.toml');
  process.stderr.write('• counting instructions (a release build first, then half a minute)\n');
  const stdout = await runAsync([
    ...[cargo, 'bench', '--quiet', '--manifest-path', manifest],
    // All features: so commits before the introduction of the feature can be built as well.
    ...['--package', 'tollway-bench', '--all-features', '--bench', 'instructions'],
    ...(agent === agentDir ? [] : ['--target-dir', path.join(agent, 'target')]),
  ]);
  return parseCounts(stdout).map(({ name, instructions }) => ({ name, instructions: instructions / PACKETS }));
}

/**
 * @param {readonly { name: string, instructions: number }[]} here
 * @param {readonly { name: string, instructions: number }[]} [there] of the commit it is compared with
 */
export function formatCounts(here, there = []) {
  const lines = here.map(({ name, instructions }) => {
    const other = there.find((count) => count.name === name)?.instructions;
    const change =
      other === undefined ? '' : `  ${other.toFixed(0).padStart(6)} there  ${percentChange(other, instructions)}`;
    return `  ${name.padEnd(16)} ${instructions.toFixed(0).padStart(6)}${change}`;
  });
  return ['instructions a packet, in Engine::process alone', ...lines].join('\n');
}

/** @param {number} from @param {number} to */
function percentChange(from, to) {
  const change = (100 * (to - from)) / from;
  return `${change < 0 ? '' : '+'}${change.toFixed(1)} %`;
}

/** Totals by case, from what gungraun prints. @param {string} output */
export function parseCounts(output) {
  const counts = [];
  let name = '';
  for (const line of output.split('\n')) {
    const title = /^\S+::instructions (\w+):/.exec(line);
    if (title?.[1] !== undefined) name = title[1].replaceAll('_', '-');
    const total = /^\s+Instructions:\s+(\d+)/.exec(line);
    if (total !== null) counts.push({ name, instructions: Number(total[1]) });
  }
  return counts;
}
