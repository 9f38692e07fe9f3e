import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Background, Host } from './netns.ts';
import { Rest, sendFrom } from './rest.ts';
import { eventually } from './wait.ts';

export const projectRoot = path.resolve(import.meta.dirname, '../..');
export const PASSWORD = 'correct horse battery';
export const SERVER = '198.51.100.10';

/**
 * A TCP port that nobody uses. It is below those that the kernel gives to connections (ip_local_port_range), and by chance, for
 * files that run beside each other start routers, too.
 */
function freePort(): number {
  const used = new Set(
    readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => Number.parseInt(/^\s*\d+: \w+:(\w{4}) /.exec(line)?.[1] ?? '', 16)),
  );
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (!used.has(port)) return port;
  }
}

export interface StartSettings {
  /** Options of npm start beside --data-dir and --listen. */
  readonly options?: readonly string[];
  /** Network namespace the command is run in. */
  readonly inside?: Host;
  readonly dataDir?: string;
  /** Command line in front of it, to run it as another user. */
  readonly as?: readonly string[];
  /** Leaves the first password to the browser. */
  readonly withoutPassword?: boolean;
}

/** `npm start` as a user runs it, without npm's own process. */
export class Router {
  readonly url: string;
  readonly rest: Rest;
  #process: Background | undefined;

  constructor(
    readonly dataDir: string,
    readonly listen: string,
    readonly settings: StartSettings,
  ) {
    this.url = `http://${listen}`;
    this.rest =
      settings.inside === undefined
        ? new Rest(this.url, PASSWORD)
        : new Rest(this.url, PASSWORD, sendFrom(settings.inside.command()));
  }

  /** Starts it without waiting. */
  launch(): Background {
    const argv = [
      ...(this.settings.as ?? []),
      process.execPath,
      path.join(projectRoot, 'scripts/start.mjs'),
      '--data-dir',
      this.dataDir,
      '--listen',
      this.listen,
      ...(this.settings.options ?? []),
    ];
    this.#process = new Background(this.settings.inside?.command(...argv) ?? argv, {
      TOLLWAY_ADMIN_PASSWORD: this.settings.withoutPassword === true ? '' : PASSWORD,
    });
    return this.#process;
  }

  get process(): Background {
    if (this.#process === undefined) throw new Error('not started');
    return this.#process;
  }

  async up(): Promise<this> {
    const child = this.launch();
    await eventually(() => child.stdout.includes('Tollway is up') || child.exited, 180_000);
    if (child.exited) throw new Error(`npm start ended: ${child.stdout}${child.stderr}`);
    return this;
  }

  #instance(): {
    routerNetns: string;
    lab: { hosts: { name: string; netns: string }[]; portsNetns: string };
    processes: { name: string; pid: number }[];
  } {
    return JSON.parse(readFileSync(path.join(this.dataDir, 'run/instance.json'), 'utf8'));
  }

  /** A host of the lab, or `router`, the router's own namespace. */
  host(name: 'lan' | 'lan2' | 'wan' | 'server' | 'router'): Host {
    const { routerNetns, lab } = this.#instance();
    const netns = name === 'router' ? routerNetns : lab.hosts.find((host) => host.name === name)?.netns;
    if (netns === undefined) throw new Error(`the lab has no host ${name}`);
    return new Host(netns);
  }

  /** Processes that it has started: the agent, the API and the hosts of the lab. */
  processes(): readonly { readonly name: string; readonly pid: number }[] {
    return this.#instance().processes;
  }

  /** Names of all network namespaces that it has made. */
  namespaces(): string[] {
    const { routerNetns, lab } = this.#instance();
    return [routerNetns, lab.portsNetns, ...lab.hosts.map((host) => host.netns)];
  }

  /** Pid of the agent or the API, from the pid file that it wrote. */
  pid(name: 'agent' | 'api'): number {
    const pid = Number(readFileSync(path.join(this.dataDir, 'run', `${name}.pid`), 'utf8').trim());
    if (!(pid > 1)) throw new Error(`${name}.pid holds no pid`);
    return pid;
  }

  async healthy(): Promise<boolean> {
    return (await this.rest.request('GET', '/healthz')).status === 200;
  }

  /** Kills the program, the agent and the API at once, and waits for their end: nothing is given back. */
  async crash(): Promise<void> {
    const others = [this.pid('agent'), this.pid('api')];
    for (const pid of [this.process.child.pid ?? 0, ...others]) process.kill(pid, 'SIGKILL');
    await this.process.ended();
    await eventually(() => !others.some(runs));
  }

  /** Ctrl-C. */
  async stop(): Promise<number> {
    const { code } = await this.process.end('SIGINT');
    return code;
  }
}

/**
 * Whether a process of this pid runs, and is not a zombie that nobody has waited for. One that was killed shows as a zombie
 * when its first thread has ended; until the others have, it holds its ports (proc_pid_stat(5): fields 3 and 20).
 */
export function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] !== 'X' && (fields[0] !== 'Z' || Number(fields[17]) > 1);
  } catch {
    return false;
  }
}

/** A data folder that does not exist elsewhere. */
export const newDataDir = (): string => mkdtempSync(path.join(tmpdir(), 'tollway-test-'));

/** A router with a data folder and an address of its own; started by {@link Router.up}. */
export function newRouter(settings: StartSettings = {}): Router {
  return new Router(settings.dataDir ?? newDataDir(), `127.0.0.1:${freePort()}`, settings);
}

/** Ends a router, and removes its data folder. */
export async function dispose(router: Router | undefined): Promise<void> {
  if (router === undefined) return;
  await router.stop();
  rmSync(router.dataDir, { recursive: true, force: true });
}
