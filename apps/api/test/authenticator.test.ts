import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authenticator } from '../src/auth/authenticator.js';
import { LoginRateLimiter } from '../src/auth/login-rate-limiter.js';
import { Sessions } from '../src/auth/sessions.js';
import { Users } from '../src/auth/users.js';
import { PASSWORD, Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

describe('requests with the same credentials at once', () => {
  it.each<[string, string]>([
    ['the right password', PASSWORD],
    ['a wrong one', 'not that one'],
  ])('go on in turns when %s has been hashed, so that others have theirs between them', async (_what, password) => {
    const failures = { count: 0, add: () => (failures.count += 1) };
    const users = await Users.open(router.db, router.accounts);
    const authenticator = new Authenticator(users, await Sessions.open(router.db), new LoginRateLimiter(), failures);
    const header = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
    let answered = 0;
    let most = 0;
    let before = 0;
    let watching = true;
    const look = () => {
      most = Math.max(most, answered - before);
      before = answered;
      if (watching) setImmediate(look);
    };
    setImmediate(look);
    const requests = Array.from({ length: 100 }, () =>
      authenticator.byBasic(header, '192.0.2.1').then(
        ({ name }) => {
          answered += 1;
          return name;
        },
        () => {
          answered += 1;
          return 'refused';
        },
      ),
    );
    expect(new Set(await Promise.all(requests))).toEqual(new Set([password === PASSWORD ? 'admin' : 'refused']));
    watching = false;
    await new Promise((resolve) => setImmediate(resolve));
    expect(failures.count).toBe(password === PASSWORD ? 0 : 1);
    expect(most).toBeLessThan(5);
  });
});
