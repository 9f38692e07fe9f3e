import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../packages/dataplane-agent/', import.meta.url));

/** Profile of an addon that is there; none is built with the profile of the tests. */
function builtProfile(): string {
  const candidates = [process.env.TOLLWAY_CARGO_PROFILE, 'checked', 'release'];
  for (const profile of candidates) {
    if (profile !== undefined && existsSync(`${folder}tollway.${profile}.node`)) return profile;
  }
  execFileSync(process.execPath, [`${folder}scripts/build.mjs`, '--profile', 'checked'], { stdio: 'inherit' });
  return 'checked';
}

/** The agent on memory ports, with its own traffic: a process of its own, as in production. */
export class RealAgent {
  readonly #socket: string;
  readonly #dataDir: string;
  #process: ChildProcess | undefined;

  constructor(socket: string, dataDir: string) {
    this.#socket = socket;
    this.#dataDir = dataDir;
  }

  start(): void {
    this.#process = spawn(
      process.execPath,
      [`${folder}host.mjs`, '--socket', this.#socket, '--data-dir', this.#dataDir, '--memory'],
      { env: { ...process.env, TOLLWAY_CARGO_PROFILE: builtProfile() }, stdio: ['ignore', 'inherit', 'inherit'] },
    );
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}
