// Network namespaces that go away again, whatever happens to the process that made them.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './command.mjs';

/** Namespaces are named `bench-PID-…` after the process that made them. */
const PREFIX = 'bench-';

function namespaces() {
  const list = spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' }).stdout ?? '';
  return list
    .split('\n')
    .map((line) => line.split(' ')[0])
    .filter((name) => name.startsWith(PREFIX));
}

/** Kills what runs in a namespace and removes it. Never throws: there may be nothing left to remove. */
function removeNamespace(name) {
  const pids = spawnSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).stdout ?? '';
  for (const pid of pids.split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // Already gone.
    }
  }
  spawnSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
}

/** Removes every namespace of one process. */
export function removeNamespacesOf(pid) {
  for (const name of namespaces()) if (name.startsWith(`${PREFIX}${pid}-`)) removeNamespace(name);
}

/** Removes what benches left behind that no longer run and whose guard was killed with them. */
export function removeStaleNamespaces() {
  for (const name of namespaces()) {
    const pid = /^bench-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeNamespace(name);
  }
}

/**
 * Starts a process that removes this process's namespaces as soon as this one has ended, however it
 * ended: the guard sees the end of its standard input.
 */
export function startGuard() {
  const guard = spawn(process.execPath, [fileURLToPath(import.meta.url), String(process.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  guard.stdin.unref();
  guard.stdin.on('error', () => {});
}

/** The namespaces of this process. */
export class Namespaces {
  #prefix = `${PREFIX}${process.pid}-`;

  /** Full name of one of our namespaces. */
  name(short) {
    return this.#prefix + short;
  }

  /** Makes a namespace with its loopback up and IPv6 off, so that only what is measured is on the wire. */
  add(short) {
    const name = this.name(short);
    run('ip', ['netns', 'add', name]);
    run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    this.sysctl(short, 'net.ipv6.conf.default.disable_ipv6=1');
    return name;
  }

  sysctl(short, assignment) {
    run('ip', ['netns', 'exec', this.name(short), 'sysctl', '-qw', assignment]);
  }

  /** `ip` with its words, in a namespace. */
  ip(short, words) {
    return run('ip', ['-n', this.name(short), ...words.split(' ')]);
  }

  /** Loads an nft ruleset in a namespace. */
  nft(short, ruleset) {
    run('ip', ['netns', 'exec', this.name(short), 'nft', '-f', '-'], { input: ruleset });
  }

  /** Program and arguments that run a command in a namespace. */
  command(short, words) {
    return ['ip', ['netns', 'exec', this.name(short), ...words]];
  }

  removeAll() {
    removeNamespacesOf(process.pid);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pid = process.argv[2];
  process.stdin.on('end', () => removeNamespacesOf(pid)).resume();
}
