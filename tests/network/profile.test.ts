import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually, sleep } from './wait.ts';

/** What `/tool/profile` says about processor time, against what the kernel says. */

let router: Router;

beforeAll(async () => {
  router = await newRouter().up();
});
afterAll(() => dispose(router));

/** Processor time of the agent's worker threads so far, by the core they are pinned to, ms. */
function threadTimes(): Map<string, number> {
  const tasks = `/proc/${router.pid('agent')}/task`;
  const times = new Map<string, number>();
  for (const task of readdirSync(tasks)) {
    if (!readFileSync(`${tasks}/${task}/comm`, 'utf8').startsWith('worker-')) continue;
    const core = /^Cpus_allowed_list:\s*(\d+)$/m.exec(readFileSync(`${tasks}/${task}/status`, 'utf8'))?.[1];
    // Time on the processor in ns, proc_pid_schedstat: finer than the clock ticks of stat.
    const [nanoseconds] = readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ');
    if (core !== undefined) times.set(core, Number(nanoseconds) / 1e6);
  }
  return times;
}

test('busy by cycle counters agrees with the threads’ processor time, and nearly all of it has a class', async () => {
  // A load that leaves the cores room: a thread that waits for its core runs by the wall clock, not by its own.
  const iperf = router.host('lan').start('iperf3', '-c', SERVER, '-t', '50', '-b', '100M');
  try {
    await sleep(1000);
    await eventually(
      async () => {
        const [before, started] = [threadTimes(), performance.now()];
        const answer = await router.rest.command('/tool/profile', { cpu: 'all', duration: '4s' });
        const [after, elapsed] = [threadTimes(), performance.now() - started];
        expect(before.size).toBeGreaterThan(0);
        expect(Array.isArray(answer)).toBe(true);
        const rows: { name: string; cpu: string; usage: string }[] = Array.isArray(answer) ? answer : [];
        for (const [core, time] of after) {
          const usage = (name: string) => Number(rows.find((row) => row.cpu === core && row.name === name)?.usage ?? 0);
          const byClock = ((time - (before.get(core) ?? 0)) / elapsed) * 100;
          expect(Math.abs(100 - usage('idle') - byClock), `core ${core}: ${JSON.stringify(rows)}`).toBeLessThanOrEqual(
            3,
          );
          expect(usage('unclassified')).toBeLessThanOrEqual(3);
        }
        return true;
      },
      40_000,
      0,
    );
  } finally {
    await iperf.end();
  }
}, 90_000);
