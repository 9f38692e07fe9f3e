import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoginRateLimiter } from '../src/auth/login-rate-limiter.js';
import { CpuLoad } from '../src/state/cpu-load.js';
import { Client } from './live-client.js';
import { Router } from './router.js';

/** NTP sets a clock that was an hour ahead. Timers and the monotonic clock do not follow. */
const setBack = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });

afterEach(() => {
  vi.useRealTimers();
});

describe('a clock that is set back', () => {
  let router: Router;
  beforeEach(async () => {
    router = await Router.start();
  });
  afterEach(() => router.close());

  it('stops no figure', async () => {
    const asked = () => router.peer?.asked.filter(({ op }) => op === 'neighbors').length ?? 0;
    expect((await router.rest('GET', '/ip/arp')).status).toBe(200);
    const before = asked();
    expect(before).toBeGreaterThan(0);
    setBack();
    expect((await router.rest('GET', '/ip/arp')).status).toBe(200);
    expect(asked()).toBe(before + 1);
  });

  it('leaves no samples ahead of it', async () => {
    const [first, second] = [await Client.open(router.url), await Client.open(router.url)];
    first.send({ op: 'subscribe', id: 1, topic: 'traffic' });
    const ahead = await first.next(({ op }) => op === 'sample');
    setBack();
    const now = await first.next(({ op, t }) => op === 'sample' && Number(t) < Number(ahead.t));
    second.send({ op: 'subscribe', id: 1, topic: 'traffic' });
    const { samples } = await second.next(({ op }) => op === 'history');
    const times = (samples as { t: number }[]).map(({ t }) => t);
    expect(times).toContain(now.t);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    for (const { socket } of [first, second]) socket.close();
  });
});

it('the load of the cores goes on when the clock is set back', async () => {
  const cpuLoad = new CpuLoad();
  const before = await cpuLoad.cores();
  setBack();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await cpuLoad.cores()).not.toBe(before);
});

it('logins wait no longer because the clock is set back', async () => {
  const rate = { burst: 1, everyMs: 50 };
  const crowd = { maxWaitMs: 5_000, maxWaitingPerAddress: 1, maxWaiting: 1 };
  const rateLimiter = new LoginRateLimiter({ address: rate, account: rate, overall: rate, known: rate, ...crowd });
  await rateLimiter.begin('192.0.2.1', 'eve');
  setBack();
  await rateLimiter.begin('192.0.2.1', 'eve');
});
