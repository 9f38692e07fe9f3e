import path from 'node:path';
import { expect } from '@playwright/test';
import type { Rest } from '../tests/network/rest.ts';
import { PASSWORD } from '../tests/network/router.ts';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import { Console } from './page-objects.ts';

const artifacts = path.join(import.meta.dirname, '../artifacts/screenshots');

/** Time for a few samples, so that graphs and rates have something to show, ms. */
const SAMPLES_MS = 3000;

/** The window in front: of the whole page axe takes several seconds, and most of it has been looked at. */
const ACTIVE = '.window-active';

const still = { reducedMotion: 'reduce' } as const;

/** A parent with a child that promises too much, and a tree; once for all tests. */
async function addQueues(rest: Rest): Promise<void> {
  if ((await rest.list('/queue/tree')).some((row) => row.name === 'looks-up')) return;
  const limits = { 'max-limit': '20M/100M' };
  await rest.add('/queue/simple', {
    name: 'looks-top',
    target: '192.168.88.0/24',
    comment: 'all of the house',
    ...limits,
  });
  await rest.add('/queue/simple', {
    name: 'looks-child',
    target: '192.168.88.10',
    parent: 'looks-top',
    'max-limit': '5M/50M',
    'limit-at': '5M/90M',
  });
  await rest.add('/queue/tree', { name: 'looks-up', parent: 'ether1', 'max-limit': '20M' });
  await rest.add('/queue/tree', { name: 'looks-voice', parent: 'looks-up', 'packet-mark': 'voice', 'max-limit': '2M' });
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the desktop, ${colorScheme}`, async ({ browser, router }) => {
    const context = await browser.newContext({ ...still, colorScheme, viewport: { width: 1440, height: 900 } });
    try {
      const page = await context.newPage();
      const shoot = (name: string) =>
        page.screenshot({ path: path.join(artifacts, `${name}-${colorScheme}-1440.png`) });
      await page.goto(router.url);
      await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
      expect(await accessibilityViolations(page), 'login').toEqual([]);
      await shoot('login');
      const ui = new Console(page, router.url);
      await ui.logIn(PASSWORD);
      await expect(ui.window('Dashboard').root).toBeVisible();
      await page.waitForTimeout(SAMPLES_MS);
      expect(await accessibilityViolations(page), 'dashboard').toEqual([]);
      await shoot('dashboard');
      await ui.open('/interface');
      await ui.open('/queue/simple');
      await ui.open('/ip/firewall/connection');
      await page.waitForTimeout(SAMPLES_MS);
      await shoot('connections');
      const filter = await ui.open('/ip/firewall/filter');
      await expect(filter.row('defconf').first()).toBeVisible();
      const dialog = await filter.add('Firewall Rule');
      await expect(dialog.root).toBeVisible();
      await page.waitForTimeout(SAMPLES_MS);
      expect(await accessibilityViolations(page), 'desktop').toEqual([]);
      await shoot('desktop');
    } finally {
      await context.close();
    }
  });

  test(`the queues, ${colorScheme}`, async ({ browser, router }) => {
    // Axe takes its time with each of a dozen screens.
    test.setTimeout(600_000);
    await addQueues(router.rest);
    const context = await browser.newContext({ ...still, colorScheme, viewport: { width: 1280, height: 800 } });
    try {
      const page = await context.newPage();
      const look = async (name: string, within = ACTIVE) => {
        expect(await accessibilityViolations(page, within), name).toEqual([]);
        const { width } = page.viewportSize() ?? { width: 0 };
        await page.screenshot({ path: path.join(artifacts, `${name}-${colorScheme}-${width}.png`) });
      };
      const ui = new Console(page, router.url);
      await ui.logIn(PASSWORD);
      const simple = await ui.open('/queue/simple');
      await simple.button('Tree').click();
      await expect(simple.row('looks-child')).toHaveAttribute('aria-level', '2');
      await page.waitForTimeout(SAMPLES_MS);
      await look('simple-queues');
      const tree = await ui.open('/queue/tree');
      await expect(tree.row('looks-voice')).toHaveAttribute('aria-level', '2');
      await look('queue-tree');
      for (const tab of ['Interface Queues', 'Queue Types', 'Simple Queues']) {
        await tree.root.getByRole('tab', { name: tab, exact: true }).click();
        await expect(tree.row().first()).toBeVisible();
        await look(tab.toLowerCase().replace(' ', '-'));
      }

      const dialog = await simple.edit(simple.row('looks-child'), /^Simple Queue <looks-child>/);
      await dialog.tab('Traffic');
      await expect(dialog.root.getByRole('figure', { name: 'Rate' }).locator('dd').first()).toHaveText(/bps$/);
      await look('queue-traffic');
      await dialog.tab('Token Bucket');
      await expect(dialog.root.locator('.token-bucket-text')).toHaveText(/the limit is|has passed/);
      await look('token-bucket');
      await dialog.tab('Days');
      await expect(dialog.root.getByText('Last 31 days')).toBeVisible();
      await look('queue-days');
      await dialog.press('Cancel');

      await simple.button('Hints').click();
      const hints = ui.window('Queue Hints');
      const whole = hints.root.getByRole('status').filter({ hasText: 'looks-child: ' });
      await expect(whole).toHaveText(
        /download max-limit 50\.0 Mbps is below limit-at 90\.0 Mbps, which is given all the same$/,
      );
      await look('queue-hints');
      await ui.bringUp('Queue List');
      await simple.button('Import').click();
      const list = ui.window('Import Subscribers');
      await list.root
        .getByRole('textbox')
        .fill('name,target,upload\nlooks-new,10.20.0.9,1M\nlooks-bad,10.20.0.10,fast');
      await list.button('Dry Run').click();
      await expect(list.root.getByText(/^Line 3, looks-bad: column 3: /)).toBeVisible();
      await look('queue-import');

      // A narrow screen shows one window at a time, and nothing beside it.
      await page.setViewportSize({ width: 700, height: 800 });
      const inside = async (name: string) => {
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
        expect(overflow, `${name} scrolls sideways`).toBe(false);
        await look(name, 'body');
      };
      await expect(
        list.root.getByText(/^Line 3, looks-bad: column 3: .* optionally with k, M or G, at most 1T$/),
      ).toBeInViewport();
      await inside('queue-import');
      await list.root.getByRole('button', { name: 'Back', exact: true }).click();
      await expect(list.root).toBeHidden();
      await inside('behind-import');
      // Names stay in view at the left, those with a hint in line with the others.
      await simple.button('Tree').click();
      await page.setViewportSize({ width: 420, height: 800 });
      const names = simple.root.locator('.grid-narrow .cell-marked');
      await expect(names.and(page.locator('[data-hinted]')).first()).toBeVisible();
      const starts = await names.evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().x));
      expect(new Set(starts).size, `names start at ${starts.join(', ')}`).toBe(1);
      await inside('behind-import-phone');
    } finally {
      await context.close();
    }
  });

  test(`the phone, ${colorScheme}: one page at a time, and a way back`, async ({ browser, router }) => {
    const viewport = { width: 390, height: 844 };
    const context = await browser.newContext({ ...still, colorScheme, viewport, hasTouch: true });
    try {
      const page = await context.newPage();
      const shoot = async (name: string) => {
        expect(await accessibilityViolations(page), name).toEqual([]);
        await page.screenshot({ path: path.join(artifacts, `${name}-${colorScheme}-390.png`) });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
        expect(overflow, `${name} scrolls sideways`).toBe(false);
      };
      await page.goto(router.url);
      await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
      await shoot('login');
      const ui = new Console(page, router.url);
      await ui.logIn(PASSWORD, { narrow: true });
      await expect(ui.window('Dashboard').root).toBeVisible();
      await page.waitForTimeout(SAMPLES_MS);
      await shoot('dashboard');
      await page.getByRole('button', { name: 'Menus', exact: true }).tap();
      await expect(ui.tree).toBeVisible();
      await shoot('menus');
      const filter = await ui.open('/ip/firewall/filter');
      await expect(filter.row('defconf').first()).toBeVisible();
      await expect(ui.window('Dashboard').root).toBeHidden();
      expect(await filter.box()).toMatchObject({ x: 0, width: 390 });
      await page.waitForTimeout(SAMPLES_MS);
      await shoot('filter');
      await filter.command('Add').tap();
      const dialog = page.getByRole('dialog');
      await expect(dialog).toBeVisible();
      await shoot('filter-new');
      await page.goBack();
      await expect(dialog).toBeHidden();
      await expect(filter.grid).toBeVisible();
      await filter.root.getByRole('button', { name: 'Back', exact: true }).tap();
      await expect(ui.window('Dashboard').root).toBeVisible();
    } finally {
      await context.close();
    }
  });
}
