import { expect } from '@playwright/test';
import { SERVER } from '../tests/network/router.ts';
import { Console, Menu } from './console.ts';
import { test } from './stack.ts';

test('a rule from the browser: error beside the field, mended, and its effect on a real ping', async ({
  ui,
  router,
}) => {
  const lan = router.host('lan');
  expect(lan.ping(SERVER, 2)).toBe(2);
  const filter = await ui.open('Filter Rules');
  await expect(filter.row('defconf').first()).toBeVisible();
  const before = await filter.row().count();

  const dialog = await filter.add();
  await dialog.set('Chain', 'forward');
  await dialog.set('Protocol', 'icmp');
  await dialog.set('Src. Address', '192.168.88.0/33');
  await dialog.tab('Action');
  await dialog.set('Action', 'drop');
  await dialog.press('OK');
  await expect(dialog.field('Src. Address')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.field('Src. Address')).toHaveAccessibleDescription(/./);
  await dialog.set('Src. Address', '192.168.88.0/24');
  await dialog.press('OK');
  await dialog.closed();
  await expect(filter.row()).toHaveCount(before + 1);

  // Behind the rules that accept what is established it has nothing to say to a ping that runs; in front it has.
  const mine = filter.row('192.168.88.0/24', 'icmp');
  await filter.select(mine);
  for (let place = before; place > 0; place--) await filter.button('Move up').click();
  await expect(filter.row().first()).toContainText('192.168.88.0/24');
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(0);
  await expect.poll(async () => Number((await filter.cell(mine, 'Packets')).replaceAll(/\D/g, ''))).toBeGreaterThan(0);

  await filter.select(mine);
  await filter.button('Disable').click();
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(1);
  await filter.button('Enable').click();
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(0);

  await filter.button('Comment').click();
  await ui.page.getByRole('dialog', { name: 'Comment' }).getByLabel('Comment').fill('no pings today');
  await ui.page.getByRole('button', { name: 'OK' }).click();
  await expect(filter.row('no pings today')).toHaveCount(1);

  await ui.page.getByRole('searchbox', { name: 'Find' }).fill('no pings');
  await expect(filter.row()).toHaveCount(1);
  await ui.page.getByRole('searchbox', { name: 'Find' }).fill('');
  await expect(filter.row()).toHaveCount(before + 1);

  await filter.select(mine);
  await filter.button('Remove').click();
  await expect(filter.row()).toHaveCount(before);
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(1);
});

test('what the server refuses is shown beside the field', async ({ ui }) => {
  const addresses = await ui.open('Addresses');
  const dialog = await addresses.add();
  await dialog.set('Address', '192.0.2.1/24');
  await dialog.set('Interface', 'ether77');
  await dialog.press('Apply');
  await expect(dialog.field('Interface')).toHaveAccessibleDescription(/ether77|interface/i);
  await dialog.press('Cancel');
  await dialog.closed();
  await expect(addresses.row('192.0.2.1/24')).toHaveCount(0);
});

test('an edit in the dialog reaches the router', async ({ ui, router }) => {
  const id = await router.rest.add('/ip/firewall/address-list', { list: 'edited', address: '192.0.2.7' });
  const lists = await ui.open('Address Lists');
  const dialog = await lists.edit(lists.row('192.0.2.7'));
  await dialog.set('Address', '192.0.2.8');
  await dialog.press('Apply');
  await expect(lists.row('192.0.2.8')).toHaveCount(1);
  expect((await router.rest.get('/ip/firewall/address-list', id)).address).toBe('192.0.2.8');
  await dialog.press('Remove');
  await dialog.closed();
  await expect(lists.row('192.0.2.8')).toHaveCount(0);
});

test('two browsers see each other’s changes', async ({ ui, router, browser }) => {
  const other = await browser.newContext();
  try {
    const second = new Console(await other.newPage(), router.url);
    await second.logIn('correct horse battery');
    const theirs = await second.open('Address Lists');
    const mine = await ui.open('Address Lists');
    const dialog = await mine.add();
    await dialog.set('Name', 'seen by both');
    await dialog.set('Address', '192.0.2.55');
    await dialog.press('OK');
    await expect(theirs.row('192.0.2.55')).toHaveCount(1);
    await theirs.select(theirs.row('192.0.2.55'));
    await theirs.button('Remove').click();
    await expect(mine.row('192.0.2.55')).toHaveCount(0);
  } finally {
    await other.close();
  }
});

test('the page reconnects after the API was killed', async ({ ui, router }) => {
  await ui.open('Interface');
  await expect(ui.connection).toHaveText('live');
  process.kill(router.pid('api'), 'SIGKILL');
  await expect(ui.connection).not.toHaveText('live');
  await expect(ui.connection).toHaveText('live', { timeout: 20_000 });
  const menu = new Menu(ui.page);
  // The pages that web clients fetch differ in size, so this rate never stands still.
  const rate = () => menu.cell(menu.row('ether1').first(), 'Rx');
  const first = await rate();
  await expect.poll(rate).not.toBe(first);
});
