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
        { name: 'flow-cache', active: true, 'blocked-by': null, packets: 12, bytes: 3400 },
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
      { '.id': '*2', name: 'flow-cache', active: 'true', packets: '12', bytes: '3400' },
    ]);
    expect((await router.rest('GET', `${FAST}?active=no`)).rows).toHaveLength(1);
    expect((await router.rest('PATCH', `${FAST}/*1`, { active: 'yes' })).status).toBe(406);
  });

  it('has the same figures in IP settings', async () => {
    if (router.peer !== undefined) {
      router.peer.handlers = [
        { name: 'ipv4-fast-path', active: false, 'blocked-by': 'connection tracking is active', packets: 3, bytes: 4 },
        { name: 'ipv4-fasttrack', active: false, 'blocked-by': 'no rule', packets: 5, bytes: 6 },
        { name: 'flow-cache', active: true, 'blocked-by': null, packets: 489, bytes: 3400 },
      ];
    }
    const { item } = await router.rest('GET', '/ip/settings');
    const { rows } = await router.rest('GET', FAST);
    for (const { name = '', active, packets, bytes } of rows) {
      const prefix = name.startsWith('ipv4-') ? name : `ipv4-${name}`;
      const reported = [item[`${prefix}-active`], item[`${prefix}-packets`], item[`${prefix}-bytes`]];
      expect(reported, name).toEqual([active, packets, bytes]);
    }
    expect(item).toMatchObject({ 'ipv4-fast-path-packets': '3', 'ipv4-flow-cache-packets': '489' });
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
