import { expect } from '@playwright/test';
import { barriers } from './barriers.ts';
import { test } from './stack.ts';

const FILTER = '/ip/firewall/filter';
const LISTS = '/ip/firewall/address-list';

test('a rule with a limit fills an address list, which the window shows with the time left', async ({ ui, router }) => {
  const { rest } = router;
  const [first] = (await rest.list(FILTER)).filter((row) => row.dynamic === 'false');
  const rule = await rest.add(FILTER, {
    chain: 'forward',
    action: 'add-src-to-address-list',
    'address-list': 'talkers',
    'address-list-timeout': '5m',
    limit: '10/1m,5',
    nth: '2,1',
    time: '0s-1d',
    'place-before': first?.['.id'] ?? '',
  });
  try {
    const lists = await ui.open(LISTS);
    const entry = lists.row('talkers').first();
    await expect(entry).toBeVisible({ timeout: 30_000 });
    expect(await lists.cell(entry, 'Timeout')).toMatch(/^00:0[45]:\d\d$/);
    expect(await barriers(ui.page, '.window-active')).toEqual([]);
    const [stored] = (await rest.list(LISTS)).filter((row) => row.list === 'talkers');
    expect(stored).toMatchObject({ dynamic: 'true', disabled: 'false' });
  } finally {
    await rest.remove(FILTER, rule);
  }
});

test('an entry that is added with a timeout is there at once, is not stored, and goes when its time is over', async ({
  ui,
  router,
}) => {
  const lists = await ui.open(LISTS);
  const dialog = await lists.add('Firewall Address List');
  await dialog.set('Name', 'guests');
  await dialog.set('Address', '192.0.2.7');
  await dialog.set('Timeout', '8s');
  await dialog.press('OK');
  await dialog.closed();
  await expect(lists.row('guests', '192.0.2.7')).toHaveCount(1);
  expect((await router.rest.list(LISTS)).find((row) => row.list === 'guests')?.dynamic).toBe('true');
  await expect(lists.row('guests')).toHaveCount(0, { timeout: 60_000 });
});
