import { afterAll, beforeAll, expect, it } from 'vitest';
import { DatabaseFault } from '../src/database/fault.js';
import { DatabaseWatch } from '../src/database/watch.js';
import { Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

it('a full disk is told of before something could not be written, and while it is', async () => {
  let free = 0;
  const told: string[] = [];
  const watch = new DatabaseWatch(
    `${router.directory}/tollway.db`,
    router.db,
    ({ kind }) => told.push(kind),
    () => free,
  );
  expect(() => watch.refuse()).toThrow(DatabaseFault);
  await expect.poll(() => told, { timeout: 20_000 }).toEqual(['full']);
  expect(watch.fault?.text).toMatch(/the disk is full\. Free some space/);
  free = 1 << 30;
  expect(() => watch.refuse()).not.toThrow();
  await expect.poll(() => watch.fault, { timeout: 20_000 }).toBeUndefined();
  watch.close();
});
