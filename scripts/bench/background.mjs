// @ts-check
/** Programs that run in the background of a benchmark. */
import { spawn } from 'node:child_process';

/**
 * Runs a program to its end.
 * @param {readonly string[]} argv
 * @returns {Promise<string>} its standard output
 */
export function runAsync(argv) {
  const [program = '', ...args] = argv;
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
      else reject(new Error(`${argv.join(' ')}: ${(stderr || stdout).trim() || `ended with ${code ?? signal}`}`));
    });
  });
}

/** A program that runs until it is stopped. */
export class Daemon {
  #child;
  #stderr = '';
  #ended;

  /** @param {readonly string[]} argv */
  constructor(argv) {
    const [program = '', ...args] = argv;
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', (error) => {
        this.#stderr += error.message;
        resolve(undefined);
      });
      this.#child.on('close', resolve);
    });
  }

  /** Last output of the process, if it has ended. */
  get lastOutput() {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return undefined;
    return this.#stderr.trim() || `it ended with ${exitCode ?? signalCode}`;
  }

  /** SIGTERM, and SIGKILL after 5 s. */
  async stop() {
    if (this.lastOutput !== undefined) return;
    this.#child.kill('SIGTERM');
    const force = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await this.#ended;
    clearTimeout(force);
  }
}
