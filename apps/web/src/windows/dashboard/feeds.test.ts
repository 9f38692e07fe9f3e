import { expect, test, vi } from 'vitest';

const asked = vi.hoisted((): unknown[] => []);
vi.mock('../../api/live.ts', () => ({
  live: {
    subscribe(request: unknown) {
      asked.push(request);
      return { update() {}, close() {} };
    },
    onState: () => () => undefined,
  },
}));

const { topInterfaces, topQueues } = await import('./feeds.ts');

test('the busiest are those that carry most in both directions together', () => {
  for (const top of [topInterfaces, topQueues]) top.listen(() => undefined)();
  expect(asked).toMatchObject([
    { menu: '/interface', sort: { by: 'tx-bits-per-second+rx-bits-per-second', desc: true } },
    { menu: '/queue/simple', sort: { by: 'rate.upload+rate.download', desc: true } },
  ]);
});
