import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Router } from './router.js';

/** Rows that the router makes say so when they are to be changed, by their `.id` and by their name. */

let router: Router;
let table = '';
beforeAll(async () => {
  router = await Router.start();
  await router.add('/ip/vrf', { name: 'blue', interfaces: 'ether2' });
  const rows = (await router.rest('GET', '/routing/table?dynamic=yes')).rows;
  table = rows.find(({ name }) => name === 'blue')?.['.id'] ?? '';
});
afterAll(() => router.close());

describe('the table of a VRF', () => {
  const TABLE = '/routing/table';
  it.each(['id', 'name'])('is not changed by its %s', async (by) => {
    const item = by === 'id' ? table : 'blue';
    const answers = [
      await router.rest('PATCH', `${TABLE}/${item}`, { comment: 'mine' }),
      await router.rest('DELETE', `${TABLE}/${item}`),
      await router.rest('POST', `${TABLE}/set`, { '.id': item, comment: 'mine' }),
      await router.rest('POST', `${TABLE}/remove`, { '.id': item }),
      await router.rest('POST', `${TABLE}/disable`, { numbers: item }),
      await router.rest('POST', `${TABLE}/comment`, { numbers: item, comment: 'mine' }),
      await router.rest('POST', `${TABLE}/unset`, { numbers: item, 'value-name': 'fib' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
    for (const { error } of answers) expect(error.detail).toMatch(/^failure: the dynamic item .* can not be changed$/);
  });
});

it('the main table says that it is builtin', async () => {
  for (const method of ['PATCH', 'DELETE'] as const) {
    const body = method === 'PATCH' ? { comment: 'mine' } : undefined;
    const { status, error } = await router.rest(method, '/routing/table/main', body);
    expect([status, error.detail]).toEqual([400, expect.stringMatching(/builtin item can not be changed/)]);
  }
});
