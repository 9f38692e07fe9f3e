import { expect, it } from 'vitest';
import { WatchedRows } from '../../src/live/watched-queue.js';
import { FairShare } from '../../src/scheduling/fair-share.js';

const ALICE = 1;
const BOB = 2;
const CAROL = 3;

it('gives all places to who asks, and some of his to others, until they have as many', async () => {
  const share = new FairShare(4);
  const given: string[] = [];
  const take = (user: number, name: string) =>
    share.take(user, async () => {
      given.push(name);
    });
  for (const name of ['a1', 'a2', 'a3', 'a4']) expect(await take(ALICE, name)).toBeDefined();
  expect(await take(ALICE, 'a5')).toBeUndefined();
  expect(await take(BOB, 'b1')).toBeDefined();
  const place = await take(BOB, 'b2');
  expect(place).toBeDefined();
  expect(given).toEqual(['a4', 'a3']);
  expect(await take(BOB, 'b3')).toBeUndefined();
  expect(await take(ALICE, 'a6')).toBeUndefined();
  place?.release();
  expect(await take(CAROL, 'c1')).toBeDefined();
  expect(given).toEqual(['a4', 'a3']);
});

it('gives a place when what it was used for has ended', async () => {
  const share = new FairShare(2);
  let end = () => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  await share.take(ALICE, () => ending);
  await share.take(ALICE, () => ending);
  let has = false;
  const taken = share
    .take(BOB, () => ending)
    .then((place) => {
      has = true;
      return place;
    });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(has).toBe(false);
  // Meanwhile it is nobody else's.
  expect(await share.take(CAROL, () => ending)).toBeUndefined();
  end();
  expect(await taken).toBeDefined();
});

it('has the place of a watched queue at once when it is left, whoever took it', async () => {
  const request = () => Promise.reject(new Error('nobody asks'));
  const rows = new WatchedRows({ request });
  const watches = [];
  for (const row of [1, 2, 3, 4]) watches.push(await rows.watch(row, ALICE));
  watches[3]?.stop();
  await rows.watch(5, ALICE);
  // Bob looks at the same ones, and Alice leaves them: they count to him, and she may have one of them.
  for (const row of [1, 2, 3]) await rows.watch(row, BOB);
  for (const watch of watches.slice(0, 3)) watch.stop();
  await rows.watch(6, ALICE);
  await expect(rows.watch(7, ALICE)).rejects.toThrow(/^4 other queues are watched now/);
});
