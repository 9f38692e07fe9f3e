import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Background } from './netns.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** Tests of the processor time in `/tool/profile`, against the kernel's. */

let router: Router;

beforeAll(async () => {
  router = await newRouter().up();
});
afterAll(() => dispose(router));

/** The agent's worker threads. */
function workerTasks(): string[] {
  const tasks = `/proc/${router.pid('agent')}/task`;
  const named = (task: string) => readFileSync(`${tasks}/${task}/comm`, 'utf8').startsWith('worker-');
  return readdirSync(tasks).filter(named);
}

/** Processor time of a worker thread so far, ms. In ns in proc_pid_schedstat: finer than the clock ticks of stat. */
function threadTime(task: string): number {
  const [nanoseconds] = readFileSync(`/proc/${router.pid('agent')}/task/${task}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

interface Measured {
  rows: { name: string; cpu: string; usage: string }[];
  /** Processor time by worker thread while the rows were measured, percent of one core. */
  byKernel: Map<string, number>;
}

/** The profile of some seconds, and what the kernel says about them. */
async function measure(): Promise<Measured> {
  const tasks = workerTasks();
  const [before, started] = [tasks.map(threadTime), performance.now()];
  const answer = await router.rest.command('/tool/profile', { cpu: 'all', duration: '4s' });
  const [after, elapsed] = [tasks.map(threadTime), performance.now() - started];
  const share = (at: number) => (((after[at] ?? 0) - (before[at] ?? 0)) / elapsed) * 100;
  return {
    rows: Array.isArray(answer) ? answer : [],
    byKernel: new Map(tasks.map((task, at) => [task, share(at)])),
  };
}

/** Percent of a core that the workers were busy by the cycle counters. */
function busy(rows: Measured['rows'], core: string): number {
  const usage = (name: string) => Number(rows.find((row) => row.cpu === core && row.name === name)?.usage ?? 0);
  expect(usage('unclassified')).toBeLessThanOrEqual(3);
  return 100 - usage('idle') - usage('other');
}

/** Runs `body` until it holds, at a load that leaves the cores room: a thread that waits for its core runs by the wall
 * clock, not by its own. */
async function underLoad(body: () => Promise<void>): Promise<void> {
  const iperf = router.host('lan').start('iperf3', '-c', SERVER, '-t', '50', '-b', '100M');
  try {
    await sleep(1000);
    await eventually(
      async () => {
        await body();
        return true;
      },
      40_000,
      0,
    );
  } finally {
    await iperf.end();
  }
}

test('busy by cycle counters agrees with the threads’ processor time, and nearly all of it has a class', async () => {
  await underLoad(async () => {
    const { rows, byKernel } = await measure();
    const cores = [...new Set(rows.map((row) => row.cpu))];
    const byCycles = cores.reduce((sum, core) => sum + busy(rows, core), 0);
    const kernel = [...byKernel.values()].reduce((sum, share) => sum + share, 0);
    expect(kernel).toBeGreaterThan(0);
    expect(Math.abs(byCycles - kernel), `${kernel} of one core: ${JSON.stringify(rows)}`).toBeLessThanOrEqual(
      3 * cores.length,
    );
  });
});

/** Busy and all clock ticks of each core so far, by proc_stat(5). */
function coreTicks(): Map<string, { busy: number; all: number }> {
  const lines = readFileSync('/proc/stat', 'utf8').matchAll(/^cpu(\d+) (.*)$/gm);
  return new Map(
    [...lines].map(([, cpu = '', line = '']) => {
      const ticks = line.trim().split(/\s+/).slice(0, 8).map(Number);
      const all = ticks.reduce((sum, each) => sum + each, 0);
      return [cpu, { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all }];
    }),
  );
}

test('the classes of a core are as busy together as the kernel says, with another program at work', async () => {
  const cores = [...new Set((await measure()).rows.map((row) => row.cpu))];
  // Busy for a part of the time, on one core.
  const program = `for (;;) { const end = Date.now() + 60; while (Date.now() < end); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40); }`;
  const other = new Background(['taskset', '-c', cores[0] ?? '', process.execPath, '-e', program]);
  try {
    await eventually(
      async () => {
        const before = coreTicks();
        const { rows } = await measure();
        const after = coreTicks();
        for (const core of cores) {
          const [from, to] = [before.get(core), after.get(core)];
          if (from === undefined || to === undefined) throw new Error(`no core ${core} in /proc/stat`);
          const kernel = (100 * (to.busy - from.busy)) / (to.all - from.all);
          const usage = (name: string) => Number(rows.find((row) => row.cpu === core && row.name === name)?.usage ?? 0);
          const message = `core ${core}, ${kernel} by the kernel: ${JSON.stringify(rows)}`;
          expect(Math.abs(100 - usage('idle') - kernel), message).toBeLessThanOrEqual(3);
          if (core === cores[0]) expect(usage('other'), message).toBeGreaterThan(30);
        }
        return true;
      },
      50_000,
      0,
    );
  } finally {
    await other.end('SIGKILL');
  }
});

test('a worker’s time is that of the core it ran on', async () => {
  const everywhere = /^Cpus_allowed_list:\s*(\S+)$/m.exec(
    readFileSync(`/proc/${router.pid('agent')}/status`, 'utf8'),
  )?.[1];
  const cores = [...new Set((await measure()).rows.map((row) => row.cpu))];
  const bind = (task: string, list: string) => execFileSync('taskset', ['-pc', list, task], { stdio: 'ignore' });
  try {
    for (const onto of [cores[0], cores.at(-1)]) {
      if (onto === undefined || everywhere === undefined) throw new Error('no core is measured');
      for (const task of workerTasks()) bind(task, onto);
      await underLoad(async () => {
        const { rows, byKernel } = await measure();
        for (const core of cores) {
          const kernel = core === onto ? [...byKernel.values()].reduce((sum, share) => sum + share, 0) : 0;
          const message = `core ${core}, bound to ${onto}: ${JSON.stringify(rows)}`;
          expect(Math.abs(busy(rows, core) - kernel), message).toBeLessThanOrEqual(3);
          if (core === onto) expect(kernel).toBeGreaterThan(1);
        }
      });
    }
  } finally {
    for (const task of workerTasks()) if (everywhere !== undefined) bind(task, everywhere);
  }
});
