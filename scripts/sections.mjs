// @ts-check
/** The parts of a long check: a header each, a time each, all listed at the end with what failed. */
import { spawn } from 'node:child_process';
import { seconds } from './process.mjs';
import { inProject, UserError } from './project.mjs';

/** A list of parts that are run one after the other. */
export class Sections {
  /** @type {{ title: string, outcome: 'ok' | 'FAILED' | 'not run', time: string }[]} */
  #done = [];
  #broken = false;

  /**
   * Runs a part; a failure is told and noted, and the next parts still run.
   * @param {string} title
   * @param {() => Promise<void>} body throws when it fails
   * @param {{ needed?: boolean }} [options] `needed`: when it fails the parts after it cannot run
   */
  async run(title, body, options = {}) {
    if (this.#broken) {
      this.#done.push({ title, outcome: 'not run', time: '' });
      return;
    }
    console.log(`\n━━━ ${title} ${'━'.repeat(Math.max(4, 90 - title.length))}`);
    const started = Date.now();
    /** @type {'ok' | 'FAILED'} */
    let outcome = 'ok';
    try {
      await body();
    } catch (error) {
      outcome = 'FAILED';
      console.error(error instanceof UserError ? error.message : error);
      if (options.needed === true) this.#broken = true;
    }
    console.log(`━━━ ${title}: ${outcome}, ${seconds(started)}`);
    this.#done.push({ title, outcome, time: seconds(started) });
  }

  /** Prints the list of parts. @returns {number} exit code */
  finish() {
    console.log('');
    for (const { title, outcome, time } of this.#done) {
      console.log(`${outcome === 'ok' ? '✓' : '✗'} ${outcome.padEnd(8)} ${time.padStart(8)}  ${title}`);
    }
    return this.#done.every(({ outcome }) => outcome === 'ok') ? 0 : 1;
  }
}

/**
 * Runs a command with its output on the terminal.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @throws UserError when it fails
 */
export async function command(program, args, options = {}) {
  console.log(`$ ${[program, ...args].join(' ')}`);
  const child = spawn(program, args, {
    cwd: options.cwd ?? inProject(),
    env: options.env ?? process.env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  /** @type {string | number | null} */
  const outcome = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  if (outcome !== 0) throw new UserError(`${program} ${args[0] ?? ''} failed: ${outcome}`);
}

/** @param {string} name program of an npm package @param {readonly string[]} args @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options] */
export const npmProgram = (name, args, options) => command(inProject('node_modules', '.bin', name), args, options);
