// @ts-check
/** Processes: running them, identifying them by pid and start time, terminating them. */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from './project.mjs';

/**
 * A process that is still the same one only while both numbers match (pids are reused).
 * @typedef {{ pid: number, startTime: string }} Identity startTime: field 22 of /proc/pid/stat, clock ticks since boot
 */

/** @param {number} pid @returns {Identity | undefined} undefined when there is no such process, or only its zombie */
export function identify(pid) {
  const stat = statFields(pid);
  const startTime = stat === undefined ? undefined : startTimeIn(stat);
  return startTime === undefined ? undefined : { pid, startTime };
}

/**
 * Start time of a process, by the fields of its /proc/pid/stat from the third on; undefined when only its zombie is
 * left. A process that is killed shows as one as soon as its first thread has ended. While others have not, it still has
 * its memory, its sockets and its locks.
 * @param {readonly string[]} fields
 */
export function startTimeIn(fields) {
  const [state, threads, startTime] = [fields[0], Number(fields[17]), fields[19]];
  if (state === 'X' || (state === 'Z' && threads <= 1)) return undefined;
  return startTime;
}

/** Fields of /proc/pid/stat from the third (state) on; the second may itself hold spaces and brackets. */
function statFields(/** @type {number} */ pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** @param {number} pid @returns {number | undefined} */
export function parentOf(pid) {
  const parent = Number(statFields(pid)?.[1]);
  return parent > 0 ? parent : undefined;
}

/** @param {number} pid @returns command line, arguments separated by spaces; empty when the process does not exist */
export function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** @param {Identity} process */
export const isRunning = ({ pid, startTime }) => identify(pid)?.startTime === startTime;

/** @param {Identity} process @param {NodeJS.Signals} signal */
function signalProcess({ pid, startTime }, signal) {
  if (!isRunning({ pid, startTime })) return;
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended between the check and the signal.
  }
}

/**
 * Terminates processes: sends SIGTERM, and SIGKILL to those that still run after `graceMs`.
 * @param {readonly Identity[]} processes
 * @param {number} graceMs
 */
export async function endProcesses(processes, graceMs) {
  for (const each of processes) signalProcess(each, 'SIGTERM');
  const gone = await until(() => !processes.some(isRunning), graceMs);
  if (!gone) await killProcesses(processes);
}

/** Kills processes by SIGKILL, without SIGTERM. @param {readonly Identity[]} processes */
export async function killProcesses(processes) {
  for (const each of processes) signalProcess(each, 'SIGKILL');
  await until(() => !processes.some(isRunning), 2000);
}

/**
 * Waits until the condition holds.
 * @param {() => boolean | Promise<boolean>} condition
 * @param {number} timeoutMs
 * @param {number} [everyMs]
 * @returns {Promise<boolean>} false when the time was up first
 */
export async function until(condition, timeoutMs, everyMs = 20) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await sleep(everyMs);
  }
}

/** @param {string} name @returns {string | undefined} full path of a program on PATH (or in the system's sbin folders) */
export function findProgram(name) {
  const folders = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`.split(':');
  for (const folder of folders) {
    if (folder === '') continue;
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // There is no such program in this folder.
    }
  }
  return undefined;
}

/**
 * Runs a short command to its end.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ input?: string, allowFailure?: boolean }} [options]
 * @returns {{ code: number, stdout: string, stderr: string }}
 * @throws UserError with the command and its own words when it fails and `allowFailure` is not set
 */
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { encoding: 'utf8', input: options.input ?? '', maxBuffer: 64 << 20 });
  const code = result.status ?? 1;
  const stderr = result.error ? result.error.message : result.stderr;
  if (code !== 0 && options.allowFailure !== true) {
    throw new UserError(`${program} ${args.join(' ')} failed: ${stderr.trim() || `exit code ${code}`}`);
  }
  return { code, stdout: result.stdout ?? '', stderr };
}

/**
 * Runs a long command. Prints its title, and its last line of output every few seconds; the whole output is printed
 * only when it fails.
 * @param {string} title what is being done and why, e.g. `building the agent (about 2 minutes the first time)`
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, everyMs?: number }} [options]
 */
export async function runLong(title, program, args, options = {}) {
  const started = performance.now();
  console.log(`• ${title}`);
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  /** @type {string[]} */
  const output = [];
  let lastLine = '';
  /** @param {Buffer} chunk */
  const collect = (chunk) => {
    const text = chunk.toString();
    output.push(text);
    lastLine =
      text
        .trim()
        .split(/[\r\n]/)
        .at(-1)
        ?.trim() || lastLine;
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const progress = setInterval(() => {
    console.log(`  … ${seconds(started)} ${title.split(' (')[0]}${lastLine ? `: ${lastLine.slice(0, 90)}` : ''}`);
  }, options.everyMs ?? 10_000);
  const outcome = await outcomeOf(child);
  clearInterval(progress);
  if (outcome !== 0) {
    process.stderr.write(output.join(''));
    throw new UserError(`${title}: ${program} ${args.join(' ')} failed (${outcome})`);
  }
  console.log(`  done: ${title.split(' (')[0]}, ${seconds(started)}`);
}

/**
 * Waits for the end of a process.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string | number | null>} exit status, name of the signal, or why it could not be started
 */
export const outcomeOf = (child) =>
  new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });

/** @param {unknown} error @returns {string} */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {number} started by `performance.now()` */
export const seconds = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`;

/** Pids of all processes. */
export function allPids() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}
