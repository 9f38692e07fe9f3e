import { afterEach, describe, expect, it, vi } from 'vitest';
import { Router } from './router.js';

const FILTER = '/ip/firewall/filter';

afterEach(() => vi.restoreAllMocks());

const offsetOf = ({ peer }: Router) =>
  peer?.active?.filter.flatMap(({ rules }) => rules.flatMap(({ matchers }) => matchers));

describe('rules with a time of day', () => {
  it('follow the clock into summer time', async () => {
    const clock = vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-60);
    const router = await Router.start();
    try {
      const { id } = await router.rest('PUT', FILTER, { chain: 'forward', time: '8h-17h,mon' });
      expect(offsetOf(router)).toMatchObject([{ kind: 'time', 'utc-offset-s': 3_600 }]);
      const before = router.peer?.revision ?? 0;
      await router.rest('PATCH', `${FILTER}/${id}`, { chain: 'forward' });
      expect(router.peer?.revision).toBe(before);
      clock.mockReturnValue(-120);
      await router.rest('PATCH', `${FILTER}/${id}`, { chain: 'forward' });
      expect(router.peer?.revision).toBe(before + 1);
      expect(offsetOf(router)).toMatchObject([{ kind: 'time', 'utc-offset-s': 7_200 }]);
    } finally {
      await router.close();
    }
  });

  it('are the only ones that do', async () => {
    const clock = vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-60);
    const router = await Router.start();
    try {
      const { id } = await router.rest('PUT', FILTER, { chain: 'forward', protocol: 'tcp' });
      const before = router.peer?.revision;
      clock.mockReturnValue(-120);
      await router.rest('PATCH', `${FILTER}/${id}`, { chain: 'forward' });
      expect(router.peer?.revision).toBe(before);
    } finally {
      await router.close();
    }
  });
});

it('moments are given by the clock that conditions on the time of day go by, and follow it', async () => {
  const LISTS = '/ip/firewall/address-list';
  vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 2, 1, 20));
  const clock = vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-330);
  const router = await Router.start();
  try {
    const { item } = await router.rest('PUT', LISTS, { list: 'seen', address: '192.0.2.7' });
    expect(item['creation-time']).toBe('2026-03-02 01:30:00');
    await router.rest('POST', '/log/info', { message: 'lunch' });
    const newest = async () => (await router.rest('GET', '/log?message=lunch')).rows[0]?.time;
    expect(await newest()).toBe('2026-03-02 01:30:00');
    clock.mockReturnValue(-60);
    expect(await newest()).toBe('2026-03-01 21:00:00');
    const { id } = await router.rest('PATCH', `${LISTS}/${item['.id']}`, { comment: 'changed' });
    expect((await router.rest('GET', `${LISTS}/${id}`)).item['creation-time']).toBe('2026-03-01 21:00:00');
  } finally {
    await router.close();
  }
});
