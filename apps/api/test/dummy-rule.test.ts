import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
  if (router.peer === undefined) return;
  router.peer.handlers = ['ipv4', 'ipv6'].map((family, at) => ({
    name: `${family}-fasttrack`,
    active: true,
    'blocked-by': null,
    packets: 5 + at,
    bytes: 700 + at,
  }));
});
afterAll(() => router.close());

const DUMMY = 'special dummy rule to show fasttrack counters';

describe.each([
  ['/ip/firewall/filter', '/ip/firewall/nat', 0],
  ['/ipv6/firewall/filter', '/ipv6/firewall/nat', 1],
] as const)('the rule of %s that shows fasttrack counters', (FILTER, NAT, ipv6) => {
  let rules: string[] = [];
  beforeAll(async () => {
    const list = ['a', 'b'].map((comment) => ({ chain: 'forward', comment }));
    rules = (await router.rest('PUT', FILTER, list)).rows.map((row) => row['.id'] ?? '');
  });

  /** Fasttracked connections of the family; the other one has as many as this one has not. */
  const show = (fasttracked: 0 | 1) => {
    if (router.peer !== undefined) router.peer.fasttracked = { all: 1, ipv6: ipv6 === fasttracked ? 1 : 0 };
  };
  const comments = async (): Promise<string[]> =>
    (await router.rest('GET', FILTER)).rows.map((row) => row.comment ?? '');

  it('stands above all rules from the first fasttracked connection until the last has gone', async () => {
    show(0);
    expect(await comments()).toEqual(['a', 'b']);
    show(1);
    const [dummy] = (await router.rest('GET', `${FILTER}?dynamic=yes`)).rows;
    expect(dummy).toMatchObject({
      chain: 'forward',
      action: 'passthrough',
      comment: DUMMY,
      dynamic: 'true',
      disabled: 'false',
      bytes: `${700 + ipv6}`,
      packets: `${5 + ipv6}`,
    });
    expect(await comments()).toEqual([DUMMY, 'a', 'b']);
    expect((await router.rest('GET', `${FILTER}/${dummy?.['.id']}`)).body).toEqual(dummy);
    const print = (body: object) => router.rest('POST', `${FILTER}/print`, body);
    expect((await print({ 'count-only': '' })).body).toEqual({ ret: '3' });
    expect((await print({ 'count-only': '', '.query': ['dynamic=no'] })).body).toEqual({ ret: '2' });
    expect((await router.rest('GET', NAT)).body).toEqual([]);
    show(0);
    expect(await comments()).toEqual(['a', 'b']);
  });

  it('stays without a fasttracked connection as long as a rule makes them', async () => {
    show(0);
    const { id } = await router.rest('PUT', FILTER, { chain: 'forward', action: 'fasttrack-connection', comment: 'f' });
    expect(await comments()).toEqual([DUMMY, 'a', 'b', 'f']);
    await router.rest('POST', `${FILTER}/disable`, { '.id': id });
    expect(await comments()).toEqual(['a', 'b', 'f']);
    await router.rest('DELETE', `${FILTER}/${id}`);
  });

  it('cannot be touched, and the rules below move as ever', async () => {
    show(1);
    const [dummy] = (await router.rest('GET', `${FILTER}?dynamic=yes`)).rows;
    const id = dummy?.['.id'];
    const failures = await Promise.all([
      router.rest('DELETE', `${FILTER}/${id}`),
      router.rest('PATCH', `${FILTER}/${id}`, { comment: 'mine' }),
      router.rest('POST', `${FILTER}/disable`, { '.id': id }),
      router.rest('POST', `${FILTER}/move`, { numbers: id, destination: rules[1] }),
      router.rest('POST', `${FILTER}/move`, { numbers: rules[1], destination: id }),
      router.rest('PUT', FILTER, { chain: 'forward', 'place-before': id }),
      router.rest('PUT', FILTER, { chain: 'forward', 'place-after': id }),
      router.rest('POST', `${FILTER}/move`, { numbers: rules[1], 'place-after': id }),
      router.rest('POST', `${FILTER}/reset-counters`, { '.id': id }),
    ]);
    for (const { status, error } of failures) {
      expect(status).toBe(400);
      expect(error.detail).toMatch(/^failure: .*dynamic item/);
    }
    expect((await router.rest('POST', `${FILTER}/move`, { numbers: rules[1], destination: rules[0] })).status).toBe(
      200,
    );
    expect(await comments()).toEqual([DUMMY, 'b', 'a']);
    show(0);
    expect((await router.rest('DELETE', `${FILTER}/${id}`)).status).toBe(404);
  });
});
