import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { dispose, newRouter, PASSWORD } from '../tests/network/router.ts';
import { Console } from './console.ts';

test('the first password is set with the link that npm start printed; then log out and in', async ({ page }) => {
  test.setTimeout(120_000);
  const router = await newRouter({ options: ['--memory'], withoutPassword: true }).up();
  try {
    const link = /http:\S+#setup=\S+/.exec(router.process.stdout)?.[0] ?? '';
    expect(link).toContain(readFileSync(path.join(router.dataDir, 'run/setup-token'), 'utf8').trim());

    await page.goto(router.url);
    await expect(page.getByText('no password yet')).toBeVisible();
    await page.goto(link);
    await page.reload();
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByLabel('Confirm password').fill('something else');
    await page.getByRole('button', { name: 'Set password' }).click();
    await expect(page.getByRole('alert')).toContainText('differ');
    await page.getByLabel('Confirm password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await expect(page.getByRole('tree', { name: 'Menus' })).toBeVisible();
    expect(page.url()).not.toContain('setup');

    await page.getByLabel('User admin').click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Password').fill('not it');
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page.getByRole('alert')).toBeVisible();
    await new Console(page, router.url).logIn(PASSWORD);

    // The link is worth nothing any more.
    const again = await page.request.post(`${router.url}/api/v1/setup`, {
      headers: { 'x-tollway': '1' },
      data: { token: link.split('=').at(-1), password: 'taken over' },
    });
    expect(again.status()).toBeGreaterThanOrEqual(400);
  } finally {
    await dispose(router);
  }
});
