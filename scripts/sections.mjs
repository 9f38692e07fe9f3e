// @ts-check
/**
 * The parts of a long check: each is printed with a header and its duration; at the end all are listed with their
 * failures.
 */
import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { failureLines, LastLines } from './failures.mjs';
import { outcomeOf, seconds } from './process.mjs';
import { inProject, UserError } from './project.mjs';

/** Maximum size of the output of a part that is held back until it is shown, bytes. */
const HELD = 256 * 1024 * 1024;

/** @typedef {{ title: string, body: (out: NodeJS.WritableStream) => Promise<void> }} Part prints to `out` */

/** A list of parts that are run one after the other, or together. */
export class Sections {
  /** @type {{ title: string, outcome: 'ok' | 'FAILED' | 'not run', time: string, failures: string[] }[]} */
  #done = [];
  #broken = false;

  /**
   * Runs chains of parts at the same time, the parts of a chain one after the other: chains that wait beside chains that work.
   * What the parts print is shown in the order in which they are given.
   * @param {...readonly Part[]} chains
   */
  async together(...chains) {
    const running = chains.flatMap((chain) => {
      /** @type {Promise<unknown>} */
      let before = Promise.resolve();
      return chain.map(({ title, body }) => {
        const out = new PassThrough({ highWaterMark: HELD });
        let time = '';
        const done = before.then(async () => {
          if (this.#broken) return;
          const started = performance.now();
          await body(out).finally(() => {
            time = seconds(started);
          });
        });
        // A failure is reported when the output of the part is shown.
        before = done.catch(() => undefined).finally(() => out.end());
        return { title, out, done, time: () => time };
      });
    });
    for (const { title, out, done, time } of running) {
      await this.#part(title, { time }, async () => {
        out.pipe(process.stdout, { end: false });
        await finished(out);
        await done;
      });
    }
  }

  /**
   * Runs a part; a failure is reported and noted, and the next parts still run.
   * @param {string} title
   * @param {() => Promise<void>} body throws when it fails
   * @param {{ needed?: boolean }} [options] `needed`: when it fails the parts after it cannot run
   */
  async run(title, body, options = {}) {
    await this.#part(title, options, body);
  }

  /** @param {string} title @param {{ needed?: boolean, time?: () => string }} options @param {() => Promise<void>} body */
  async #part(title, options, body) {
    if (this.#broken) {
      this.#done.push({ title, outcome: 'not run', time: '', failures: [] });
      return;
    }
    console.log(`\n━━━ ${title} ${'━'.repeat(Math.max(4, 90 - title.length))}`);
    const started = performance.now();
    const time = options.time ?? (() => seconds(started));
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
    const took = time();
    console.log(`━━━ ${title}: ${outcome}, ${took}`);
    this.#done.push({ title, outcome, time: took, failures });
  }

  /** Prints the list of parts, followed by the failures of each. @returns {number} exit code */
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

/** A command that ended with an error, and its last lines of output. */
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
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, out?: NodeJS.WritableStream }} [options] `out`: where it prints
 * instead of the terminal
 * @throws UserError when it fails
 */
export async function command(program, args, options = {}) {
  const { out = process.stdout } = options;
  out.write(`$ ${[program, ...args].join(' ')}\n`);
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
    [child.stdout, out],
    [child.stderr, options.out ?? process.stderr],
  ])) {
    from.pipe(to, { end: false });
    last.follow(from);
  }
  const outcome = await outcomeOf(child);
  if (outcome !== 0) throw new CommandFailed(`${program} ${args[0] ?? ''} failed: ${outcome}`, last.lines());
}

/** @param {string} name program of an npm package @param {readonly string[]} args @param {Parameters<typeof command>[2]} [options] */
export const npmProgram = (name, args, options) => command(inProject('node_modules', '.bin', name), args, options);
