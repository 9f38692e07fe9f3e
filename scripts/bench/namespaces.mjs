// @ts-check
/** Network namespaces that are removed when the process that created them ends, for whatever reason. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { addNetns, deleteNetns, enterNetns, inNetns } from '../netns.mjs';
import { run } from '../process.mjs';

/** Namespaces are named `bench-PID-…` after the process that made them. */
const NAME = /^bench-(\d+)-/;

/** @param {(owner: string) => boolean} isMeant selects namespaces by the pid in their names */
async function removeWhere(isMeant) {
  if (!existsSync('/run/netns')) return;
  for (const name of readdirSync('/run/netns')) {
    const owner = NAME.exec(name)?.[1];
    if (owner !== undefined && isMeant(owner)) await deleteNetns(name);
  }
}

/** Removes namespaces of benchmarks that no longer run and whose guard has failed, too. */
export const removeStaleNamespaces = () => removeWhere((owner) => !existsSync(`/proc/${owner}`));

/**
 * Starts a process that removes this process's namespaces and a folder as soon as this one has ended,
 * however it ended: the guard sees the end of its standard input.
 * @param {string} folder
 */
export function startGuard(folder) {
  const guard = spawn(process.execPath, [fileURLToPath(import.meta.url), String(process.pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  const { stdin } = guard;
  stdin.on('error', () => {});
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
}

/** The namespaces of this process, by short names. */
export class Namespaces {
  /** @param {string} short */
  name(short) {
    return `bench-${process.pid}-${short}`;
  }

  /** @param {string} short */
  add(short) {
    addNetns(this.name(short));
  }

  /** Runs `ip` with arguments in a namespace; returns its output. @param {string} short @param {string} words */
  ip(short, words) {
    return run('ip', ['-n', this.name(short), ...words.split(' ')]).stdout;
  }

  /** @param {string} short @param {string} assignment */
  sysctl(short, assignment) {
    inNetns(this.name(short), ['sysctl', '-qw', assignment]);
  }

  /** Loads an nft ruleset. @param {string} short @param {string} ruleset */
  nft(short, ruleset) {
    const [program = '', ...args] = this.command(short, ['nft', '-f', '-']);
    run(program, args, { input: ruleset });
  }

  /** Runs the lines of a `tc -batch`. @param {string} short @param {string} lines */
  tc(short, lines) {
    const [program = '', ...args] = this.command(short, ['tc', '-batch', '-']);
    run(program, args, { input: lines });
  }

  /**
   * The queueing disciplines of a device with their counters.
   * @param {string} short
   * @param {string} device
   * @returns {{ kind: string, bytes: number }[]}
   */
  disciplines(short, device) {
    const show = ['tc', '-json', '-statistics', 'qdisc', 'show', 'dev', device];
    return JSON.parse(inNetns(this.name(short), show).stdout);
  }

  /** The command line that runs a command in a namespace. @param {string} short @param {readonly string[]} argv */
  command(short, argv) {
    return enterNetns(this.name(short), argv);
  }

  /** Removes all of them, with their processes. */
  async remove() {
    await removeWhere((owner) => owner === String(process.pid));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , owner, folder = ''] = process.argv;
  const clean = async () => {
    await removeWhere((name) => name === owner);
    rmSync(folder, { recursive: true, force: true });
  };
  process.stdin.on('end', () => void clean()).resume();
}
