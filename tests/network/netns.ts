import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Result of a command. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs beside the test. */
export class Background {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #closed: Promise<Ran>;

  constructor(argv: readonly string[], env?: NodeJS.ProcessEnv) {
    const [program = '', ...args] = argv;
    this.child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    this.child.stdout?.on('data', (chunk) => {
      this.stdout += String(chunk);
    });
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += String(chunk);
    });
    this.#closed = once(this.child, 'close').then(([code]) => ({
      code: typeof code === 'number' ? code : 128,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  get exited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resolves when it has ended and all its output is there. */
  ended(): Promise<Ran> {
    return this.#closed;
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGINT'): Promise<Ran> {
    if (!this.exited) this.child.kill(signal);
    return this.#closed;
  }
}

/** A host of a test: a network namespace. */
export class Host {
  constructor(readonly netns: string) {}

  command(...argv: string[]): string[] {
    return ['nsenter', `--net=/run/netns/${this.netns}`, '--', ...argv];
  }

  /** Runs a command to its end, at most 120 s. */
  run(...argv: string[]): Ran {
    return runCommand(this.command(...argv));
  }

  /** Runs a command that has to succeed. */
  must(...argv: string[]): string {
    const ran = this.run(...argv);
    if (ran.code !== 0) throw new Error(`${this.netns}: ${argv.join(' ')}: ${ran.stderr}${ran.stdout}`);
    return ran.stdout;
  }

  start(...argv: string[]): Background {
    return new Background(this.command(...argv));
  }

  /** Runs JavaScript (an ES module) in this host. */
  script(code: string, ...args: string[]): Background {
    return this.start(process.execPath, '--input-type=module', '-e', code, ...args);
  }

  /** Number of echo replies to `count` requests, 10 a second. */
  ping(address: string, count: number): number {
    const { stdout } = this.run('ping', '-n', '-i', '0.1', '-W', '4', '-c', String(count), address);
    return Number(/(\d+) received/.exec(stdout)?.[1] ?? 0);
  }
}

/**
 * Makes a namespace for tests with hosts of their own. It has no IPv6, or one whose addresses are used at once and which
 * listens to no router.
 */
export function addHost(netns: string, ipv6 = false): Host {
  mustRun('ip', 'netns', 'add', netns);
  const host = new Host(netns);
  const settings = ipv6 ? ['accept_dad=0', 'accept_ra=0'] : ['disable_ipv6=1'];
  for (const which of ['all', 'default']) {
    host.must('sysctl', '-qw', ...settings.map((setting) => `net.ipv6.conf.${which}.${setting}`));
  }
  host.must('ip', 'link', 'set', 'lo', 'up');
  return host;
}

/** A veth pair between two hosts, both ends up; `mtu` is that of the first one's, bytes. */
export function link(a: Host, nameA: string, b: Host, nameB: string, mtu = 1500): void {
  mustRun(
    'ip',
    '-n',
    a.netns,
    'link',
    'add',
    nameA,
    'mtu',
    `${mtu}`,
    'type',
    'veth',
    'peer',
    'name',
    nameB,
    'netns',
    b.netns,
  );
  a.must('ip', 'link', 'set', nameA, 'up');
  b.must('ip', 'link', 'set', nameB, 'up');
}

/** A host whose `eth1` and `eth2` are ports for a router, and a host behind each, which goes by 10.10.1.1 and 10.10.2.1. */
export function addBox(prefix: string): { readonly box: Host; readonly left: Host; readonly right: Host } {
  const [box, left, right] = [addHost(`${prefix}-box`), addHost(`${prefix}-left`), addHost(`${prefix}-right`)];
  for (const [number, host] of [left, right].entries()) {
    const network = `10.10.${number + 1}`;
    link(box, `eth${number + 1}`, host, 'eth0');
    host.must('ip', 'address', 'add', `${network}.2/24`, 'dev', 'eth0');
    host.must('ip', 'route', 'add', 'default', 'via', `${network}.1`);
  }
  return { box, left, right };
}

export function removeHost(host: Host | undefined): void {
  if (host !== undefined) runCommand(['ip', 'netns', 'delete', host.netns]);
}

/** Runs a command to its end, at most 120 s. */
export function runCommand(argv: readonly string[], env?: NodeJS.ProcessEnv): Ran {
  const [program = '', ...args] = argv;
  const ran = spawnSync(program, args, { encoding: 'utf8', timeout: 120_000, env: { ...process.env, ...env } });
  return { code: ran.status ?? 128, stdout: ran.stdout ?? '', stderr: ran.stderr ?? '' };
}

export function mustRun(...argv: string[]): string {
  const ran = runCommand(argv);
  if (ran.code !== 0) throw new Error(`${argv.join(' ')}: ${ran.stderr}${ran.stdout}`);
  return ran.stdout;
}
