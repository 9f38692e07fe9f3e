import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const FAST = '/ip/settings/fast-path';
const SLOW = '/ip/settings/slow-path';

describe('why packets are slow', () => {
  it('tells each way past the slow path, and what closes it', async () => {
    if (router.peer !== undefined) {
      router.peer.handlers = [
        { name: 'ipv4-fast-path', active: false, 'blocked-by': 'connection tracking is active', packets: 0, bytes: 0 },
        { name: 'ipv4-flow-cache', active: true, 'blocked-by': null, packets: 12, bytes: 3400 },
      ];
    }
    expect((await router.rest('GET', FAST)).rows).toEqual([
      {
        '.id': '*1',
        name: 'ipv4-fast-path',
        active: 'false',
        'blocked-by': 'connection tracking is active',
        packets: '0',
        bytes: '0',
      },
      { '.id': '*2', name: 'ipv4-flow-cache', active: 'true', packets: '12', bytes: '3400' },
    ]);
    expect((await router.rest('GET', `${FAST}?active=no`)).rows).toHaveLength(1);
    expect((await router.rest('PATCH', `${FAST}/*1`, { active: 'yes' })).status).toBe(406);
  });

  it.each([
    ['ipv4', '/ip/settings'],
    ['ipv6', '/ipv6/settings'],
  ])('has the figures of %s in %s', async (family, menu) => {
    const ways = ['fast-path', 'fasttrack', 'flow-cache'];
    if (router.peer !== undefined) {
      router.peer.handlers = ['ipv4', 'ipv6'].flatMap((other) =>
        ways.map((way, at) => ({
          name: `${other}-${way}`,
          active: at === 2,
          'blocked-by': at === 2 ? null : 'no rule',
          packets: (other === 'ipv4' ? 3 : 30) + at,
          bytes: (other === 'ipv4' ? 400 : 4_000) + at,
        })),
      );
    }
    const { item } = await router.rest('GET', menu);
    const { rows } = await router.rest('GET', FAST);
    for (const { name = '', active, packets, bytes } of rows) {
      const reported = [item[`${name}-active`], item[`${name}-packets`], item[`${name}-bytes`]];
      expect(reported, name).toEqual(
        name.startsWith(family) ? [active, packets, bytes] : [undefined, undefined, undefined],
      );
    }
    expect(item[`${family}-flow-cache-packets`]).toBe(family === 'ipv4' ? '5' : '32');
  });

  it('counts the packets that went through every stage, by reason', async () => {
    const reason = (packets: number) => [{ reason: 'new-connection', text: 'no entry yet', packets }];
    if (router.peer !== undefined) router.peer.slow = reason(100);
    const row = { '.id': '*1', reason: 'new-connection', description: 'no entry yet', packets: '100' };
    expect((await router.rest('GET', SLOW)).rows).toEqual([{ ...row, 'packets-per-second': '0' }]);
    if (router.peer !== undefined) router.peer.slow = reason(5_100);
    await new Promise((resolve) => setTimeout(resolve, 800));
    const [later] = (await router.rest('GET', SLOW)).rows;
    expect(later).toMatchObject({ ...row, packets: '5100' });
    expect(Number(later?.['packets-per-second'])).toBeGreaterThan(0);
    expect(Number(later?.['packets-per-second'])).toBeLessThan(5_000 / 0.7);
  });

  it('tells how many come now, also to who looks for the first time, or after a while', async () => {
    const { peer } = router;
    if (peer === undefined) throw new Error('no peer');
    let packets = 0;
    const pass = () => {
      packets += 1_000;
      peer.slow = [{ reason: 'new-connection', text: 'no entry yet', packets }];
    };
    const rate = async () => Number((await router.rest('GET', SLOW)).rows[0]?.['packets-per-second']);
    pass();
    // Longer than a rate reaches back.
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    const passing = setInterval(pass, 20);
    const first = await rate();
    clearInterval(passing);
    expect(first).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    expect(await rate()).toBe(0);
  });
});
