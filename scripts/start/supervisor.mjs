// @ts-check
/** Keeps processes running: a process that ends is restarted, with increasing delays if it keeps ending. */
import { spawn } from 'node:child_process';
import { closeSync, copyFileSync, openSync, readFileSync, renameSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { identify, messageOf } from '../process.mjs';
import { makeFolder } from '../project.mjs';

/**
 * Delay before the first restart, ms; doubles up to {@link SLOWEST_RESTART_MS} while the process keeps ending soon
 * after its start.
 */
const FIRST_RESTART_MS = 100;
const SLOWEST_RESTART_MS = 5000;
/** Running time after which a process counts as stable, ms. */
const WELL_MS = 3_000;
/** Size at which a log is rotated, bytes, and interval of the checks, ms. Log messages may be written there. */
const LOG_LIMITS = { bytes: 8 << 20, checkMs: 60_000 };

/**
 * @typedef {{
 *   name: string,
 *   argv: string[],
 *   env?: NodeJS.ProcessEnv,
 *   input?: string,
 *   quiet?: boolean,
 *   onExit?: (code: number | null, logTail: string, first: boolean) => boolean,
 * }} Service
 * `input`: what it reads from its standard input. `quiet`: its end is not worth a line. `onExit`: called when it ended by itself; false = leave it ended.
 * @typedef {import('../process.mjs').Identity & { name: string }} Running
 */

export class Supervisor {
  #stopping = false;
  /** @type {Map<string, Running>} */
  #running = new Map();
  /** @type {Set<NodeJS.Timeout>} */
  #restarts = new Set();
  #logDir;
  #onChange;
  #whyNot;
  #looking;

  /**
   * @param {string} logDir where each process's output goes, `NAME.log` and the one before, `NAME.log.1`
   * @param {() => void} onChange called when the set of running processes has changed
   * @param {() => string | undefined} whyNot why nothing can be started again now; it is as soon as there is no reason any more
   * @param {{ bytes: number, checkMs: number }} logLimits
   */
  constructor(logDir, onChange, whyNot = () => undefined, { bytes, checkMs } = LOG_LIMITS) {
    this.#logDir = logDir;
    this.#onChange = onChange;
    this.#whyNot = whyNot;
    this.#looking = setInterval(() => {
      for (const { name } of this.running) shorten(this.logFile(name), bytes);
    }, checkMs).unref();
    try {
      makeFolder(logDir);
    } catch (error) {
      console.error(`no logs are kept: ${messageOf(error)}`);
    }
  }

  /** @returns {Running[]} */
  get running() {
    return [...this.#running.values()];
  }

  /** @param {string} name */
  logFile(name) {
    return path.join(this.#logDir, `${name}.log`);
  }

  /** @param {Service} service */
  start(service) {
    rotate(this.logFile(service.name));
    this.#spawn(service, FIRST_RESTART_MS, true);
  }

  /** Stops all restarts; the caller terminates the running processes. */
  stop() {
    this.#stopping = true;
    clearInterval(this.#looking);
    for (const timer of this.#restarts) clearTimeout(timer);
  }

  /** @param {Service} service @param {number} delayMs @param {boolean} first */
  #spawn(service, delayMs, first) {
    const [program = '', ...args] = service.argv;
    const startedAt = performance.now();
    const log = openLog(this.logFile(service.name));
    // A separate session: Ctrl-C in the terminal reaches only the supervisor, which terminates the processes in order.
    const child = spawn(program, args, {
      env: service.env,
      detached: true,
      stdio: [service.input === undefined ? 'ignore' : 'pipe', log, log],
    });
    // The process may end before it has read its input.
    child.stdin?.on('error', () => undefined).end(service.input);
    if (log !== 'ignore') closeSync(log);
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    if (identity !== undefined) {
      this.#running.set(service.name, { name: service.name, ...identity });
      this.#onChange();
    }
    let ended = false;
    const onEnd = (/** @type {number | null} */ code, /** @type {string} */ how) => {
      if (ended) return;
      ended = true;
      this.#running.delete(service.name);
      if (this.#stopping) {
        // Errors about settings that could not be restored are shown where the termination was requested.
        if (code !== null && code !== 0 && service.quiet !== true) {
          console.error(`• ${service.name} could not end in order (${how}): ${this.#tail(service.name)}`);
        }
        return;
      }
      this.#onChange();
      if (service.onExit?.(code, this.#tail(service.name), first) === false) return;
      const livedMs = performance.now() - startedAt;
      const nextMs = livedMs >= WELL_MS ? FIRST_RESTART_MS : delayMs;
      const why = this.#whyNot();
      const next = why === undefined ? 'starting it again' : `it is started again when that is mended: ${why}`;
      if (service.quiet !== true) console.log(`• ${service.name} ended (${how}); ${next}`);
      this.#spawnLater(service, nextMs);
    };
    child.on('error', (error) => onEnd(null, error.message));
    child.on('exit', (code, signal) => onEnd(code, signal ?? `exit code ${code}`));
  }

  /** @param {Service} service @param {number} delayMs */
  #spawnLater(service, delayMs) {
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      if (this.#whyNot() === undefined) this.#spawn(service, Math.min(delayMs * 2, SLOWEST_RESTART_MS), false);
      else this.#spawnLater(service, FIRST_RESTART_MS);
    }, delayMs);
    this.#restarts.add(timer);
  }

  /** The last lines that a process wrote. */
  #tail(/** @type {string} */ name) {
    try {
      return readFileSync(this.logFile(name), 'utf8').trim().split('\n').slice(-8).join('\n');
    } catch {
      return '';
    }
  }
}

/**
 * Opens a log. If it cannot be written, the process runs without it. @param {string} file @returns {number | 'ignore'}
 */
function openLog(file) {
  try {
    return openSync(file, 'a');
  } catch {
    return 'ignore';
  }
}

/**
 * Truncates a large log. The process appends to the file, wherever its end is.
 * @param {string} file @param {number} bytes
 */
function shorten(file, bytes) {
  try {
    if (statSync(file).size <= bytes) return;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  } catch {
    // If the disk is full, the next check may find space.
  }
}

/** @param {string} file */
function rotate(file) {
  try {
    renameSync(file, `${file}.1`);
  } catch {
    // At the first run there is no earlier log.
  }
}
