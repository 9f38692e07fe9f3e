import { afterEach, beforeEach, expect, it } from 'vitest';
import { keptGenerations, newestKept } from '../src/generations/generations.js';
import { Router } from './router.js';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const LISTS = '/ip/firewall/address-list';

it('keeps every revision that is stored, and all users, also when it is stopped amid changes', async () => {
  const known = new Set<number>();
  const { peer } = router;
  if (peer === undefined) throw new Error('there is no peer');
  // Between what is stored and what is reported lies an answer of the agent.
  peer.delayMs = 30;
  for (const round of [1, 2, 3]) {
    let answered = 0;
    const asked = Array.from({ length: 40 }, async (_, at) => {
      const user = { name: `u${round}-${at}`, group: 'read', password: 'a password of some length' };
      const entry = { list: 'l', address: `10.${round}.0.${at}` };
      const { status } = await (at % 8 === 7 ? router.rest('PUT', '/user', user) : router.rest('PUT', LISTS, entry));
      if (status === 201) answered += 1;
    });
    const settled = Promise.allSettled(asked);
    await expect.poll(() => answered, { interval: 1, timeout: 60_000 }).toBeGreaterThan(round);
    await router.app.close();
    await settled;
    const stored = await router.db.revision.findMany({ select: { number: true } });
    for (const { heads } of keptGenerations(router.directory)) for (const { revision } of heads) known.add(revision);
    expect(stored.filter(({ number }) => !known.has(number))).toEqual([]);
    const users = await router.db.user.findMany({ select: { name: true } });
    const kept = newestKept(router.directory)?.users.users.map(({ name }) => name);
    expect(kept?.toSorted()).toEqual(users.map(({ name }) => name).toSorted());
    await router.shut();
    await router.open();
    await router.healthy();
  }
});
