// Running other programs.
import { spawn, spawnSync } from 'node:child_process';

/** Runs a program to its end and returns its standard output; throws with its message if it fails. */
export function run(program, args, { input } = {}) {
  const result = spawnSync(program, args, { encoding: 'utf8', input, maxBuffer: 64 << 20 });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(failure(program, args, result.status ?? result.signal, result.stderr));
  return result.stdout;
}

/** Whether a program is installed. */
export function installed(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}

/** As {@link run}, without blocking this process. */
export function runAsync(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(failure(program, args, code ?? signal, stderr || stdout)));
    });
  });
}

/** A program that runs until it is stopped. */
export class Daemon {
  #child;
  #stderr = '';
  #ended;

  constructor(program, args) {
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', (error) => {
        this.#stderr += error.message;
        resolve();
      });
      this.#child.on('close', resolve);
    });
  }

  /** Whether it has ended, and its last words if so. */
  get lastWords() {
    const ended = this.#child.exitCode !== null || this.#child.signalCode !== null;
    return ended ? this.#stderr.trim() || `ended with status ${this.#child.exitCode}` : undefined;
  }

  /** SIGTERM, and SIGKILL after 5 s. */
  async stop() {
    if (this.lastWords !== undefined) return;
    this.#child.kill('SIGTERM');
    const force = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await this.#ended;
    clearTimeout(force);
  }
}

function failure(program, args, status, words) {
  return `${program} ${args.slice(0, 6).join(' ')}: ${words?.trim() || `ended with status ${status}`}`;
}
