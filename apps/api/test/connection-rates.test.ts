import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECORD } from '../src/agent/connections.js';
import { BASE_AGE_MS, ConnectionRateBase } from '../src/state/connection-rate-base.js';
import { Router } from './router.js';

const CONNECTIONS = '/ip/firewall/connection';

describe('rates of connections', () => {
  let router: Router;
  let carried: NodeJS.Timeout;
  beforeAll(async () => {
    router = await Router.start();
    const record = Buffer.alloc(RECORD);
    record.writeBigUInt64LE(5n, 0);
    record.writeUInt8(17, 8);
    record.writeUInt8(4, 9);
    if (router.peer !== undefined) router.peer.connections = record;
    // 1 Mbit/s.
    carried = setInterval(() => record.writeBigUInt64LE(process.hrtime.bigint() / 8_000n, 104), 5);
  });
  afterAll(async () => {
    clearInterval(carried);
    await router.close();
  });
  const asked = () => router.peer?.asked.filter(({ op }) => op === 'connections').length ?? 0;
  /** Forgets all readings. */
  const anew = async () => {
    await router.shut();
    await router.open();
    await router.healthy();
  };

  it.each([
    ['in a list', 'GET', CONNECTIONS, undefined],
    ['of one', 'GET', `${CONNECTIONS}/*5`, undefined],
    ['that are named', 'GET', `${CONNECTIONS}?.proplist=orig-rate`, undefined],
    ['by a command', 'POST', `${CONNECTIONS}/print`, { '.proplist': 'orig-rate,repl-rate' }],
  ])('are right for who looks once: %s', async (_, method, path, body) => {
    await anew();
    const answer = await router.rest(method, path, body);
    const [first] = Array.isArray(answer.body) ? answer.rows : [answer.item];
    expect(Number(first?.['orig-rate'])).toBeGreaterThan(300_000);
    expect(Number(first?.['orig-rate'])).toBeLessThan(3_000_000);
  });

  it('are there when they are only compared', async () => {
    await anew();
    const fast = { '.query': ['>orig-rate=300000'], 'count-only': '' };
    expect((await router.rest('POST', `${CONNECTIONS}/print`, fast)).item).toEqual({ ret: '1' });
  });

  it('are not waited for by who does not ask for them', async () => {
    for (const [method, path, body] of [
      ['GET', `${CONNECTIONS}?.proplist=src-address`, undefined],
      ['POST', `${CONNECTIONS}/print`, { 'count-only': '' }],
    ] as const) {
      await anew();
      const before = asked();
      expect((await router.rest(method, path, body)).status).toBe(200);
      expect(asked()).toBe(before + 1);
    }
  });
});

describe('what rates are taken against', () => {
  const { min, max } = BASE_AGE_MS;

  it.each([50, 350, 699, 700, 1_000, 9_000])('is of the right age when somebody reads each %i ms', (every) => {
    const rateBase = new ConnectionRateBase<number>();
    let last: { reading: number; at: number } | undefined;
    for (let now = 0; now < 60_000; now += every) {
      const chosen = rateBase.choose(last, now);
      if (now >= 2 * min + every) {
        expect(now - (chosen ?? Number.NaN)).toBeGreaterThanOrEqual(min);
        expect(now - (chosen ?? Number.NaN)).toBeLessThan(Math.max(2 * min + every, every + 1));
      }
      last = { reading: now, at: now };
    }
  });

  it('is nothing when nobody has read for long, or it is forgotten', () => {
    const rateBase = new ConnectionRateBase<string>();
    expect(rateBase.choose(undefined, 0)).toBeUndefined();
    expect(rateBase.choose({ reading: 'a', at: 0 }, max + 1)).toBeUndefined();
    expect(rateBase.choose({ reading: 'b', at: max + 1 }, max + 1 + min)).toBe('b');
    rateBase.forget();
    expect(rateBase.choose(undefined, max + 2 + min)).toBeUndefined();
  });
});
