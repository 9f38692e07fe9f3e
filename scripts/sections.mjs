// @ts-check
/** The parts of a long check: a header each, a time each, all listed at the end with what failed. */
import { spawn } from 'node:child_process';
import { failureLines, LastLines } from './failures.mjs';
import { seconds } from './process.mjs';
import { inProject, UserError } from './project.mjs';

/** A list of parts that are run one after the other. */
export class Sections {
  /** @type {{ title: string, outcome: 'ok' | 'FAILED' | 'not run', time: string, failures: string[] }[]} */
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
      this.#done.push({ title, outcome: 'not run', time: '', failures: [] });
      return;
    }
    console.log(`\n━━━ ${title} ${'━'.repeat(Math.max(4, 90 - title.length))}`);
    const started = performance.now();
    /** @type {'ok' | 'FAILED'} */
    let outcome = 'ok';
    /** @type {string[]} */
    let failures = [];
    try {
      await body();
    } catch (error) {
      outcome = 'FAILED';
      const text = error instanceof UserError ? error.message : error;
      console.error(text);
      failures = [...(error instanceof CommandFailed ? failureLines(error.output) : []), String(text)];
      if (options.needed === true) this.#broken = true;
    }
    console.log(`━━━ ${title}: ${outcome}, ${seconds(started)}`);
    this.#done.push({ title, outcome, time: seconds(started), failures });
  }

  /** Prints the list of parts, and below it what failed in each. @returns {number} exit code */
  finish() {
    console.log('');
    for (const { title, outcome, time } of this.#done) {
      console.log(`${outcome === 'ok' ? '✓' : '✗'} ${outcome.padEnd(8)} ${time.padStart(8)}  ${title}`);
    }
    for (const { title, failures } of this.#done) {
      if (failures.length > 0) console.log(`\n✗ ${title}\n${failures.map((line) => `  ${line}`).join('\n')}`);
    }
    return this.#done.every(({ outcome }) => outcome === 'ok') ? 0 : 1;
  }
}

/** A command that ended with an error, and what it printed last. */
class CommandFailed extends UserError {
  /** @param {string} message @param {readonly string[]} output */
  constructor(message, output) {
    super(message);
    this.output = output;
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
    env: {
      ...(process.stdout.isTTY && { FORCE_COLOR: '1', CARGO_TERM_COLOR: 'always' }),
      ...(options.env ?? process.env),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const last = new LastLines();
  for (const [from, to] of /** @type {const} */ ([
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ])) {
    from.pipe(to, { end: false });
    last.follow(from);
  }
  /** @type {string | number | null} */
  const outcome = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  if (outcome !== 0) throw new CommandFailed(`${program} ${args[0] ?? ''} failed: ${outcome}`, last.lines());
}

/** @param {string} name program of an npm package @param {readonly string[]} args @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options] */
export const npmProgram = (name, args, options) => command(inProject('node_modules', '.bin', name), args, options);
