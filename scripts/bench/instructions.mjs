// @ts-check
/** Instructions per packet: the engine under callgrind, driven by gungraun. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { buildNeeds, ensurePrograms, ensureRust, instructionNeeds } from '../install.mjs';
import { runLong } from '../process.mjs';
import { agentDir } from '../project.mjs';
import { runAsync } from './background.mjs';

/** The runner must be of the library's version, which `crates/bench/Cargo.toml` names. */
const RUNNER = '0.20.0';
/** Packets counted per case, `Steady::PACKETS`. */
const PACKETS = 1024;

/** Prints how many instructions of the engine a packet of each case takes. */
export async function countInstructions() {
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
  const manifest = path.join(agentDir, 'Cargo.toml');
  process.stderr.write('• counting instructions (a release build first, then half a minute)\n');
  const stdout = await runAsync([
    ...[cargo, 'bench', '--quiet', '--manifest-path', manifest],
    ...['--package', 'tollway-bench', '--bench', 'instructions'],
  ]);
  console.log('instructions a packet, in Engine::process alone');
  for (const { name, instructions } of parseCounts(stdout)) {
    console.log(`  ${name.padEnd(16)} ${(instructions / PACKETS).toFixed(0)}`);
  }
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
