import { expect, it } from 'vitest';
import { FairShare } from '../src/live/fair-share.js';

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
  const leave = await take(BOB, 'b2');
  expect(leave).toBeDefined();
  expect(given).toEqual(['a4', 'a3']);
  expect(await take(BOB, 'b3')).toBeUndefined();
  expect(await take(ALICE, 'a6')).toBeUndefined();
  leave?.();
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
    .then((leave) => {
      has = true;
      return leave;
    });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(has).toBe(false);
  // Meanwhile it is nobody else's.
  expect(await share.take(CAROL, () => ending)).toBeUndefined();
  end();
  expect(await taken).toBeDefined();
});
