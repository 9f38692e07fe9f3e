import { expect } from '@playwright/test';
import { menuByPath } from '@tollway/schema';
import { PASSWORD } from '../tests/network/router.ts';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import { Console, Menu } from './page-objects.ts';
import { windowDefinitions } from './windows.ts';

/** The window in front: axe looks at no more here, the whole page is looked at elsewhere. */
const ACTIVE = '.window-active';

test('every window opens from the tree, and every tab in it, shows its content and has no serious barrier', async ({
  ui,
}) => {
  test.setTimeout(900_000);
  const errors: string[] = [];
  ui.page.on('pageerror', (error) => errors.push(error.message));
  ui.page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await ui.window('Dashboard').button('Close').click();
  for (const definition of windowDefinitions) {
    for (const { address, relatedWindows } of definition.tabs) {
      if (definition.tree === undefined) continue;
      const { root } = await ui.open(address);
      await expect(ui.page).toHaveURL(new RegExp(`${address}$`));
      const menu = menuByPath(address);
      const isTable =
        menu !== undefined && menu.columns.length > 0 && menu.kind !== 'settings' && menu.kind !== 'status';
      if (isTable) await expect(new Menu(ui.page, root).grid.first()).toBeVisible();
      await expect(root.getByText('Loading', { exact: true })).toBeHidden();
      await expect(root.getByText(/^Not shown:/)).toBeHidden();
      expect(await accessibilityViolations(ui.page, ACTIVE), address).toEqual([]);
      if (menu?.commands.has('add') === true) {
        const dialog = await new Menu(ui.page, root).add(menu.singular);
        await expect(dialog.root).toBeVisible();
        expect(await accessibilityViolations(ui.page, ACTIVE), `${address}, dialog`).toEqual([]);
        await dialog.press('Cancel');
        await dialog.closed();
      }
      for (const related of relatedWindows) {
        await root.getByRole('button', { name: related.label, exact: true }).click();
        await expect(ui.page).toHaveURL(new RegExp(`${related.address}$`));
        const opened = ui.window(windowDefinitions.find((each) => each.key === related.address)?.title ?? '');
        await expect(opened.root).toBeVisible();
        expect(await accessibilityViolations(ui.page, ACTIVE), related.address).toEqual([]);
        await opened.button('Close').click();
      }
    }
    if (definition.tree !== undefined) await ui.window(definition.title).button('Close').click();
  }
  expect(errors).toEqual([]);
});

test('rates and counters of the lab’s traffic move', async ({ ui }) => {
  const menu = await ui.open('/interface');
  const read = (column: string) => () => menu.cell(menu.row('ether2').first(), column);
  for (const column of ['Rx', 'Tx Packet (p/s)']) {
    const first = await read(column)();
    await expect.poll(read(column), { timeout: 180_000 }).not.toBe(first);
  }
});

test('connections of the lab are shown, with flags, and grow', async ({ ui }) => {
  const menu = await ui.open('/ip/firewall/connection');
  // Among the hundred others, with the names that the lab looks up, it may be far below what the window shows.
  await menu.find(':5004');
  const stream = menu.row('192.168.89.10', ':5004');
  await expect(stream).toHaveCount(1);
  expect(await stream.getByRole('gridcell').first().textContent()).toMatch(/S?A?C.*s/);
  const bytes = () => menu.cell(stream, 'Orig. Bytes');
  const first = await bytes();
  await expect.poll(bytes).not.toBe(first);
});

test('two windows and the dashboard live on after the API was killed', async ({ ui, router }) => {
  const interfaces = await ui.open('/interface');
  await ui.open('/ip/firewall/connection');
  await expect(ui.connection).toHaveText('live');
  process.kill(router.pid('api'), 'SIGKILL');
  await expect(ui.connection).not.toHaveText('live');
  await expect(ui.connection).toHaveText('live', { timeout: 60_000 });
  await expect(ui.window('Firewall').root).toBeVisible();
  // The pages that web clients fetch differ in size, so this rate never stands still.
  const rate = () => interfaces.cell(interfaces.row('ether1').first(), 'Rx');
  const first = await rate();
  await expect.poll(rate).not.toBe(first);
});

test('a window whose code does not come says so, and a retry opens it', async ({ page, router }) => {
  const ui = new Console(page, router.url);
  // Files that index.html names are loaded; all later requests fail.
  const first = new Set<string>();
  const html = await (await page.request.get(router.url, { headers: { accept: 'text/html' } })).text();
  for (const [, path] of html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) first.add(path ?? '');
  const isLater = (url: URL) => url.pathname.startsWith('/assets/') && !first.has(url.pathname);
  await page.route(isLater, (route) => route.abort());
  await ui.logIn(PASSWORD);
  const addresses = await ui.open('/ip/address');
  const alert = addresses.root.getByRole('alert');
  await expect(alert).toContainText('The router has not sent this part of the page.');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(alert).toContainText('Try again');
  await page.unroute(isLater);
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(addresses.grid).toBeFocused();
  await expect(addresses.row('ether1').first()).toBeVisible();
  // One retry loads everything that failed: the dashboard as well.
  await expect(page.getByRole('alert')).toHaveCount(0);
});
