import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Mutex } from '../../src/scheduling/mutex.js';

it('runs one section at a time, those of an owner in order and owners by turns', async () => {
  const mutex = new Mutex();
  const begun: string[] = [];
  let running = 0;
  const run = (name: string) =>
    mutex.run(
      async () => {
        running += 1;
        expect(running).toBe(1);
        begun.push(name);
        await sleep(1);
        running -= 1;
        return name;
      },
      undefined,
      name[0],
    );
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(run);
  expect(begun).toEqual([]);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect(await run('d1')).toBe('d1');
});

it('goes on behind a section that fails', async () => {
  const mutex = new Mutex();
  const failing = mutex.run(() => Promise.reject(new Error('late')));
  const throwing = mutex.run((): Promise<void> => {
    throw new Error('at once');
  });
  const after = mutex.run(async () => 'runs');
  await expect(failing).rejects.toThrow('late');
  await expect(throwing).rejects.toThrow('at once');
  expect(await after).toBe('runs');
});

it('does not run a section whose patience is over, and costs its owner no turn', async () => {
  const mutex = new Mutex();
  const begun: string[] = [];
  let end = () => {};
  const first = mutex.run(() => new Promise<void>((resolve) => (end = resolve)), undefined, 'x');
  const noting = (name: string) => async () => {
    begun.push(name);
  };
  const patience = { ms: 5, error: () => new Error('waited') };
  const impatient = mutex.run(noting('a1'), patience, 'a');
  const others = [
    mutex.run(noting('a2'), undefined, 'a'),
    mutex.run(noting('b1'), undefined, 'b'),
    mutex.run(noting('b2'), undefined, 'b'),
    mutex.run(noting('a3'), undefined, 'a'),
  ];
  await expect(impatient).rejects.toThrow('waited');
  end();
  await Promise.all([first, ...others]);
  expect(begun).toEqual(['a2', 'b1', 'a3', 'b2']);
});
