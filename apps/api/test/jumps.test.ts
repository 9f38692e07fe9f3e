import { afterEach, beforeEach, expect, it } from 'vitest';
import { Router } from './router.js';

/** A jump takes no rule of another chain out of force. */

const FILTER = '/ip/firewall/filter';
const NAT = '/ip/firewall/nat';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const add = (menu: string, body: Record<string, string>) => router.rest('PUT', menu, body);
const jump = (chain: string, target: string, more: Record<string, string> = {}) => ({
  chain,
  action: 'jump',
  'jump-target': target,
  ...more,
});

it('that closes a circle is refused, however it is closed, and the jumps that were there go on', async () => {
  const first = await add(FILTER, jump('forward', 'c1'));
  await add(FILTER, jump('c1', 'c2'));
  await add(FILTER, { chain: 'c2', action: 'drop' });
  const closing = await add(FILTER, jump('c2', 'c1'));
  expect(closing.status).toBe(400);
  expect(closing.error.detail).toMatch(
    /^failure: \/ip\/firewall\/filter \*\w+ \(jump in chain c1\) would work no more: jump-target: chain c2 leads back to chain c1$/,
  );
  const off = await add(FILTER, jump('c2', 'c1', { disabled: 'yes' }));
  expect(off.status).toBe(201);
  expect((await router.rest('POST', `${FILTER}/enable`, { numbers: off.id })).status).toBe(400);
  expect((await router.rest('PATCH', `${FILTER}/${off.id}`, { disabled: 'no' })).status).toBe(400);
  const other = await add(FILTER, jump('c2', 'c3'));
  expect((await router.rest('PATCH', `${FILTER}/${other.id}`, { 'jump-target': 'c1' })).status).toBe(400);
  const rules = (await router.rest('GET', FILTER)).rows;
  expect(rules.filter((row) => row.invalid === 'true')).toMatchObject([{ '.id': other.id }]);
  // One that leads to its own chain ends nothing but itself.
  const own = await add(FILTER, jump('c2', 'c2'));
  expect((await router.rest('GET', `${FILTER}/${own.id}`)).item.invalid).toBe('true');
  expect((await router.rest('GET', `${FILTER}/${first.id}`)).item.invalid).toBe('false');
});

it('that closes a circle is refused also where another chain loses its last rule with it', async () => {
  await add(FILTER, jump('forward', 'empty'));
  const only = await add(FILTER, { chain: 'empty', action: 'drop' });
  await add(FILTER, jump('forward', 'c1'));
  await add(FILTER, jump('c1', 'c2'));
  await add(FILTER, { chain: 'c2', action: 'drop' });
  // The rule goes from the one chain to the other, and becomes the jump that closes the circle.
  const moved = await router.rest('PATCH', `${FILTER}/${only.id}`, jump('c2', 'c1'));
  expect([moved.status, moved.error?.detail]).toEqual([400, expect.stringMatching(/jump in chain c1/)]);
});

it('that nests others too deep is refused', async () => {
  await add(FILTER, jump('forward', 'd1'));
  for (let at = 1; at <= 15; at += 1) expect((await add(FILTER, jump(`d${at}`, `d${at + 1}`))).status).toBe(201);
  await add(FILTER, { chain: 'd16', action: 'drop' });
  await add(FILTER, { chain: 'd17', action: 'drop' });
  const deep = await add(FILTER, jump('d16', 'd17'));
  expect([deep.status, deep.error.detail]).toEqual([
    400,
    expect.stringMatching(/jump in chain forward.*nested deeper than 16/),
  ]);
});

it('from dstnat to a chain that masquerades is refused', async () => {
  await add(NAT, jump('srcnat', 'hide'));
  const hide = await add(NAT, { chain: 'hide', action: 'masquerade' });
  const other = await add(NAT, jump('dstnat', 'hide'));
  expect(other.error.detail).toMatch(
    /masquerade in chain hide\) would work no more: action: masquerade works in srcnat only/,
  );
  expect((await router.rest('GET', `${NAT}/${hide.id}`)).item.invalid).toBe('false');
  // With the last rule of a chain the jump to it goes on leading nowhere.
  expect((await router.rest('DELETE', `${NAT}/${hide.id}`)).status).toBe(204);
});
