import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { registry } from '@tollway/schema';
import { PASSWORD } from '../tests/network/router.ts';
import { Console, Menu } from './console.ts';
import { test } from './stack.ts';

const artifacts = path.join(import.meta.dirname, '../artifacts/screenshots');

/** Barriers of impact serious or critical that axe finds in the page. */
async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
}

test('every menu opens from the tree, shows its table or form, and has no serious barrier', async ({ ui }) => {
  test.setTimeout(180_000);
  const errors: string[] = [];
  ui.page.on('pageerror', (error) => errors.push(error.message));
  ui.page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  for (const menu of registry) {
    const label = menu.tree.at(-1) ?? menu.title;
    await ui.open(label);
    await expect(ui.page).toHaveURL(new RegExp(`${menu.path}$`));
    if (menu.kind === 'settings' || menu.kind === 'status') {
      await expect(ui.page.getByRole('region', { name: menu.title })).toBeVisible();
    } else {
      await expect(ui.page.getByRole('grid').first()).toBeVisible();
    }
    await expect(ui.page.getByText('Loading', { exact: true })).toBeHidden();
    await expect(ui.page.getByText(/^Not shown:/)).toBeHidden();
    expect(await barriers(ui.page), menu.path).toEqual([]);
    if (menu.commands.includes('add')) {
      const dialog = await new Menu(ui.page).add();
      await expect(dialog.root).toBeVisible();
      expect(await barriers(ui.page), `${menu.path}, dialog`).toEqual([]);
      await dialog.press('Cancel');
      await dialog.closed();
    }
  }
  expect(errors).toEqual([]);
});

test('rates and counters of the lab’s traffic move', async ({ ui }) => {
  const menu = await ui.open('Interface');
  const read = (column: string) => () => menu.cell(menu.row('ether2').first(), column);
  for (const column of ['Rx', 'Tx Packet (p/s)']) {
    const first = await read(column)();
    await expect.poll(read(column), { timeout: 60_000 }).not.toBe(first);
  }
});

test('connections of the lab are shown, with flags, and grow', async ({ ui }) => {
  const menu = await ui.open('Connections');
  const stream = menu.row('192.168.89.10', ':5004');
  await expect(stream).toHaveCount(1);
  expect(await stream.getByRole('gridcell').first().textContent()).toMatch(/S?A?C.*s/);
});

test('the keyboard alone: tree, table, dialog', async ({ ui }) => {
  const here = ui.page.getByRole('treeitem', { selected: true });
  await expect(here).toHaveText('Interface');
  await here.focus();
  const wanted = ui.page.getByRole('treeitem', { name: 'Addresses', exact: true });
  for (let steps = 0; steps < 30 && !(await wanted.evaluate((item) => item === document.activeElement)); steps++) {
    await ui.page.keyboard.press('ArrowDown');
  }
  await ui.page.keyboard.press('Enter');
  const menu = new Menu(ui.page);
  await expect(menu.row('192.168.88.1/24')).toHaveCount(1);
  await menu.grid.focus();
  await ui.page.keyboard.press('ArrowDown');
  await ui.page.keyboard.press('Enter');
  await expect(ui.page.getByRole('dialog')).toBeVisible();
  await ui.page.keyboard.press('Escape');
  await expect(ui.page.getByRole('dialog')).toBeHidden();
});

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    test(`screenshots, ${colorScheme}, ${width}×${height}`, async ({ browser, router }) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height }, hasTouch: width < 500 });
      try {
        const page = await context.newPage();
        const shoot = (name: string) =>
          page.screenshot({ path: path.join(artifacts, `${name}-${colorScheme}-${width}.png`) });
        await page.goto(router.url);
        await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
        expect(await barriers(page)).toEqual([]);
        await shoot('login');
        const ui = new Console(page, router.url);
        await ui.logIn(PASSWORD, { narrow: width < 500 });
        for (const menu of ['/interface', '/ip/firewall/filter', '/ip/firewall/connection', '/tool/profile']) {
          await page.goto(`${router.url}${menu}`);
          await expect(page.getByRole('gridcell').first()).toBeVisible();
          // A few samples, so that graphs and rates have something to show.
          await page.waitForTimeout(3000);
          expect(await barriers(page), menu).toEqual([]);
          await shoot(menu.slice(1).replaceAll('/', '-'));
        }
        await page.goto(`${router.url}/ip/firewall/filter/new`);
        await expect(page.getByRole('dialog')).toBeVisible();
        expect(await barriers(page)).toEqual([]);
        await shoot('ip-firewall-filter-new');
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
        expect(overflow, 'the page scrolls sideways').toBe(false);
      } finally {
        await context.close();
      }
    });
  }
}
