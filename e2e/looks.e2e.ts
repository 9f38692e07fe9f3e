import path from 'node:path';
import { expect } from '@playwright/test';
import { PASSWORD } from '../tests/network/router.ts';
import { barriers } from './barriers.ts';
import { Console } from './console.ts';
import { test } from './stack.ts';

const artifacts = path.join(import.meta.dirname, '../artifacts/screenshots');

/** Time for a few samples, so that graphs and rates have something to show, ms. */
const SAMPLES_MS = 3000;

const still = { reducedMotion: 'reduce' } as const;

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the desktop, ${colorScheme}`, async ({ browser, router }) => {
    const context = await browser.newContext({ ...still, colorScheme, viewport: { width: 1440, height: 900 } });
    try {
      const page = await context.newPage();
      const shoot = (name: string) =>
        page.screenshot({ path: path.join(artifacts, `${name}-${colorScheme}-1440.png`) });
      await page.goto(router.url);
      await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
      expect(await barriers(page), 'login').toEqual([]);
      await shoot('login');
      const ui = new Console(page, router.url);
      await ui.logIn(PASSWORD);
      await expect(ui.window('Dashboard').root).toBeVisible();
      await page.waitForTimeout(SAMPLES_MS);
      expect(await barriers(page), 'dashboard').toEqual([]);
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
      expect(await barriers(page), 'desktop').toEqual([]);
      await shoot('desktop');
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
        expect(await barriers(page), name).toEqual([]);
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
