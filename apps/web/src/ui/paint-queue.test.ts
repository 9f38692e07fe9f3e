import { expect, test } from 'vitest';
import { PaintQueue } from './paint-queue.ts';

/** A clock that stands still until it is moved, and frames that come when they are called. */
function testClock() {
  let now = 0;
  let frames: (() => void)[] = [];
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: () => now,
    frame: (callback: () => void) => frames.push(callback),
    after: (callback: () => void, ms: number) => timers.push({ at: now + ms, callback }),
    pass(ms: number) {
      now += ms;
      const due = timers.filter((timer) => timer.at <= now);
      timers = timers.filter((timer) => timer.at > now);
      for (const { callback } of due) callback();
    },
    nextFrame() {
      const due = frames;
      frames = [];
      for (const callback of due) callback();
      return due.length;
    },
  };
}

test('jobs that take long are spread over frames, in the order of asking', () => {
  const clock = testClock();
  const queue = new PaintQueue(clock);
  const drawn: number[] = [];
  const jobs = [1, 2, 3].map((which) =>
    queue.job(() => {
      drawn.push(which);
      clock.pass(1);
    }),
  );
  for (const job of jobs) job.ask();
  clock.nextFrame();
  expect(drawn).toEqual([1, 2]);
  clock.nextFrame();
  expect(drawn).toEqual([1, 2, 3]);
  expect(clock.nextFrame()).toBe(0);
});

test('a job runs at most twice a second however often it is asked', () => {
  const clock = testClock();
  let runs = 0;
  const job = new PaintQueue(clock).job(() => {
    runs++;
  });
  for (let step = 0; step < 100; step++) {
    job.ask();
    clock.nextFrame();
    clock.pass(20);
  }
  expect(runs).toBeGreaterThanOrEqual(4);
  expect(runs).toBeLessThanOrEqual(5);
});

test('a cancelled job does not run', () => {
  const clock = testClock();
  let runs = 0;
  const queue = new PaintQueue(clock);
  const job = queue.job(() => {
    runs++;
  });
  job.ask();
  job.cancel();
  clock.nextFrame();
  job.ask();
  clock.nextFrame();
  expect(runs).toBe(0);
});
