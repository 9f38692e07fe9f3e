import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { dispose, newRouter, PASSWORD } from '../tests/network/router.ts';
import { Console } from './page-objects.ts';

test('the first password is set with the link that npm start printed; then log out and in', async ({ page }) => {
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

test('whoever may only look from now on sees what the router has, and what of the form is not saved', async ({
  page,
}) => {
  const router = await newRouter({ options: ['--memory'] }).up();
  try {
    const bob = await router.rest.add('/user', { name: 'bob', group: 'write', password: PASSWORD });
    await router.rest.add('/ip/firewall/address-list', { list: 'office', address: '10.9.8.7' });
    const ui = new Console(page, router.url);
    await page.goto(router.url);
    await page.getByLabel('User').fill('bob');
    // A wrong password leaves the focus on the button.
    await page.getByLabel('Password').fill('not it');
    await page.getByLabel('Password').press('Tab');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Log in' })).toBeFocused();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(ui.tree).toBeVisible();
    const lists = await ui.open('/ip/firewall/address-list');
    const dialog = await lists.edit(lists.row('10.9.8.7'), /office/);
    await dialog.set('Address', '10.9.8.1');
    await router.rest.set('/user', bob, { group: 'read' });
    await expect(dialog.root.getByRole('alert')).toHaveText('Not saved, as you may only look now: Address: 10.9.8.1.', {
      timeout: 60_000,
    });
    await expect(dialog.root.getByLabel('Address', { exact: true })).toHaveValue('10.9.8.7');
    // The values typed for a new item are not lost either.
    const routes = await ui.open('/ip/route');
    await router.rest.set('/user', bob, { group: 'write' });
    const added = await routes.add('Route');
    await added.set('Dst. Address', '10.77.0.0/16');
    await router.rest.set('/user', bob, { group: 'read' });
    await expect(added.root.getByRole('alert')).toHaveText('Not added: your group may not add items here now.', {
      timeout: 60_000,
    });
    await expect(added.field('Dst. Address')).toHaveValue('10.77.0.0/16');
    await router.rest.set('/user', bob, { group: 'write' });
    await expect(added.root.getByRole('alert')).toBeHidden({ timeout: 60_000 });
    await expect(added.field('Dst. Address')).toHaveValue('10.77.0.0/16');
    await added.press('Cancel');
    await ui.bringUp(/office/);
    await router.rest.set('/user', bob, { group: 'read' });
    await expect(dialog.root.getByRole('alert')).toBeVisible({ timeout: 60_000 });
    // Another name is no other user: nothing ends.
    await router.rest.set('/user', bob, { group: 'write', name: 'robert' });
    await expect(page.getByLabel('User robert')).toBeVisible({ timeout: 60_000 });
    await expect(dialog.root.getByLabel('Address', { exact: true })).toHaveValue('10.9.8.1', { timeout: 60_000 });
    await dialog.press('OK');
    await expect.poll(async () => (await router.rest.list('/ip/firewall/address-list'))[0]?.address).toBe('10.9.8.1');
  } finally {
    await dispose(router);
  }
});

test('whoever may only look changes the own password in System ▸ Password', async ({ page }) => {
  const router = await newRouter({ options: ['--memory'] }).up();
  try {
    await router.rest.add('/user', { name: 'bob', group: 'read', password: PASSWORD });
    const ui = new Console(page, router.url);
    await page.goto(router.url);
    await page.getByLabel('User').fill('bob');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('User bob').click();
    await page.getByRole('button', { name: 'Change password' }).click();
    const { root } = ui.window('Password');
    const field = (name: string) => root.getByLabel(name, { exact: true });
    await field('Old Password').fill('not it at all');
    await field('New Password').fill('a password of bob');
    await field('Confirm New Password').fill('a password of rob');
    await root.getByRole('button', { name: 'Change' }).click();
    await expect(root).toContainText('it is not the new password');
    await field('Confirm New Password').fill('a password of bob');
    await root.getByRole('button', { name: 'Change' }).click();
    await expect(root).toContainText('it is not the password of bob');
    await field('Old Password').fill(PASSWORD);
    await field('Old Password').press('Enter');
    await expect(page.getByText('Your password is changed.')).toBeVisible();
    await expect(root).toBeHidden();
    // The page goes on; the old password does not.
    await expect(ui.connection).toHaveText('live', { timeout: 60_000 });
    await page.getByLabel('User bob').click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('textbox', { name: 'User' }).fill('bob');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page.getByRole('alert')).toContainText('wrong user name or password');
    await page.getByLabel('Password').fill('a password of bob');
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(ui.tree).toBeVisible();
  } finally {
    await dispose(router);
  }
});
