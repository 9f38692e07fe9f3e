import { expect, test } from 'vitest';
import { pendingSettled, trackPending } from './pending.ts';

test('what is under way is waited for, also when it fails, and what it leads to is done', async () => {
  const done: string[] = [];
  const work = (name: string, ms: number, fails = false) =>
    trackPending(
      new Promise<void>((resolve, reject) => setTimeout(() => (fails ? reject(new Error(name)) : resolve()), ms)),
    ).then(
      () => done.push(name),
      () => done.push(`${name} failed`),
    );
  void work('slow', 30);
  void work('wrong', 5, true);
  const waited = pendingSettled();
  void work('later', 200);
  await waited;
  expect(done).toEqual(['wrong failed', 'slow']);
});

test('there is nothing to wait for when nothing is under way', async () => {
  const late = new Promise((resolve) => setTimeout(resolve, 1_000, 'late'));
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(await Promise.race([late, pendingSettled()])).toBeUndefined();
});
