import { expect } from '@playwright/test';
import { PASSWORD } from '../tests/network/router.ts';
import { test } from './fixtures.ts';
import { Console } from './page-objects.ts';

const FILTER = '/ip/firewall/filter';

test('Insert adds after a click on a tab; the new row is selected and in view', async ({ ui, router }) => {
  const { rest } = router;
  const ids: string[] = [];
  for (let at = 0; at < 40; at++) {
    ids.push(await rest.add('/ip/firewall/address-list', { list: `keys-${at}`, address: `192.0.2.${at}` }));
  }
  const lists = await ui.open('/ip/firewall/address-list');
  await lists.root.getByRole('tab', { name: 'Address Lists', exact: true }).click();
  await expect(lists.row('keys-0').first()).toBeVisible();
  await ui.page.keyboard.press('Insert');
  const dialog = ui.page.getByRole('dialog', { name: 'New Firewall Address List' });
  await expect(dialog).toHaveCount(1);
  await dialog.getByLabel('Name', { exact: true }).fill('keys-new');
  await dialog.getByLabel('Address', { exact: true }).fill('192.0.2.250');
  await dialog.getByRole('button', { name: 'OK', exact: true }).click();
  const added = lists.row('keys-new');
  await expect(added).toHaveAttribute('aria-selected', 'true');
  await expect(added).toBeInViewport();
  await rest.request('POST', '/rest/ip/firewall/address-list/remove', { '.id': ids });
});

test('keys mean the row that was just added by the button', async ({ ui, router }) => {
  const lists = await ui.open('/ip/firewall/address-list');
  const dialog = await lists.add('Firewall Address List');
  await dialog.set('Name', 'keys-button');
  await dialog.set('Address', '192.0.2.251');
  await dialog.press('OK');
  const added = lists.row('keys-button');
  await expect(added).toHaveAttribute('aria-selected', 'true');
  await expect(lists.grid).toBeFocused();
  await ui.page.keyboard.press('Control+d');
  await expect(ui.page.locator('.toasts')).toContainText('Disabled 1 item in Address Lists.');
  const rows = await router.rest.list('/ip/firewall/address-list');
  expect(rows.find(({ list }) => list === 'keys-button')?.disabled).toBe('true');
  await ui.page.keyboard.press('Delete');
  await expect(added).toHaveCount(0);
});

test('the log follows its end after the filter bar has come and gone', async ({ ui, router }) => {
  const say = (message: string) => router.rest.command('/log/info', { message });
  for (let at = 0; at < 60; at++) await say(`line ${at} of keys`);
  const log = await ui.open('/log');
  await log.grid.press('End');
  await expect(log.row('line 59 of keys')).toBeInViewport();
  for (const step of ['opened', 'closed']) {
    await log.command('Filter').click();
    await say(`the bar is ${step}`);
    await expect(log.row(`the bar is ${step}`)).toBeInViewport({ ratio: 0.9 });
  }
});

test('a drag while a column sorts says why nothing moves', async ({ ui }) => {
  const rules = await ui.open(FILTER);
  await expect(rules.row('accept').first()).toBeVisible();
  await rules.grid.getByRole('columnheader', { name: 'Action' }).click();
  await rules.drag(rules.row('accept').nth(1), rules.row('accept').nth(0));
  await expect(ui.page.locator('.toasts')).toContainText('Not moved: the list is sorted by a column; click #');
});

test('Esc puts back what was changed in settings; F4 asks before changes are lost', async ({ ui }) => {
  await ui.open('/system/identity');
  const identity = ui.window('Identity');
  const name = identity.root.getByRole('textbox', { name: 'Identity', exact: true });
  const before = await name.inputValue();
  await name.fill('edge');
  await name.press('Escape');
  await expect(name).toHaveValue(before);
  await expect(identity.root).toBeVisible();
  await name.fill('edge');
  await name.press('F4');
  const question = ui.page.getByRole('dialog', { name: 'Discard the changes in Identity?' });
  await expect(question).toBeVisible();
  await ui.page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  await expect(name).toHaveValue('edge');
  await name.press('F4');
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(identity.root).toBeHidden();
});

test('Esc in a list clears the selection first, then closes the window; in Find it clears the text', async ({ ui }) => {
  const rules = await ui.open(FILTER);
  const { keyboard } = ui.page;
  const chosen = rules.grid.locator('[role="row"][aria-selected="true"]');
  await rules.select(rules.row('accept').first());
  await keyboard.press('Control+a');
  await expect(chosen).not.toHaveCount(1);
  await keyboard.press('Escape');
  await expect(chosen).toHaveCount(0);
  await expect(rules.root).toBeVisible();

  // The keyboard is where it was, and the key is the window's: also while its toolbar has the focus.
  await keyboard.press('ArrowDown');
  await expect(chosen).toHaveCount(1);
  await rules.command('Filter').focus();
  await keyboard.press('Escape');
  await expect(chosen).toHaveCount(0);
  await expect(rules.root).toBeVisible();

  // A text in Find is another thing to give up, and so is a menu: the rows stay selected.
  await rules.select(rules.row('accept').first());
  await rules.find('accept');
  const find = rules.root.getByRole('searchbox', { name: 'Find' });
  await find.press('Escape');
  await expect(find).toHaveValue('');
  await find.press('Escape');
  await expect(rules.root).toBeVisible();
  await expect(chosen).toHaveCount(1);
  await rules.grid.focus();
  await keyboard.press('Shift+F10');
  await expect(ui.page.getByRole('menuitem', { name: 'Select none Esc' })).toBeEnabled();
  await keyboard.press('Escape');
  await expect(chosen).toHaveCount(1);
  await keyboard.press('Escape');
  await expect(chosen).toHaveCount(0);
  await keyboard.press('Escape');
  await expect(rules.root).toBeHidden();
});

test('a letter in the tree of menus goes to the next menu that begins with it', async ({ ui }) => {
  const item = (place: string) => ui.tree.locator(`[data-key="/${place}"]`);
  await item('Dashboard').focus();
  await ui.page.keyboard.press('u');
  await expect(item('System/Users')).toBeFocused();
  await ui.page.keyboard.press('r');
  await expect(item('IP/Routes')).toBeFocused();
  await ui.page.keyboard.press('R');
  await expect(item('IPv6/Routes')).toBeFocused();
  await ui.page.keyboard.press('R');
  await expect(item('Routing')).toBeFocused();
  await ui.page.keyboard.press('R');
  await expect(item('System/Resources')).toBeFocused();
  await ui.page.keyboard.press('x');
  await expect(item('System/Resources')).toBeFocused();
});

test('keys mean the rows after a comment by the button, and when the button is switched off', async ({
  ui,
  router,
}) => {
  const rule = await router.rest.add(FILTER, { chain: 'forward', action: 'accept', 'dst-address': '192.0.2.99' });
  const comment = async () => (await router.rest.get(FILTER, rule)).comment;
  try {
    const rules = await ui.open(FILTER);
    const mine = rules.row('192.0.2.99');
    await rules.select(mine);
    await rules.command('Comment').click();
    await ui.page.keyboard.type('by the button');
    await ui.page.keyboard.press('Enter');
    await expect.poll(comment).toBe('by the button');
    await expect(rules.grid).toBeFocused();
    await ui.page.keyboard.press('Control+z');
    await expect.poll(comment).toBeUndefined();
    await ui.page.keyboard.press('Control+a');
    await expect(rules.row('defconf').first()).toHaveAttribute('aria-selected', 'true');
    // Escape gives up the selection, and with it what the button would be about.
    await rules.command('Comment').focus();
    await ui.page.keyboard.press('Escape');
    await expect(rules.command('Comment')).toBeDisabled();
    await expect(rules.grid).toBeFocused();
    await ui.page.keyboard.press('Control+f');
    await expect(rules.root.getByLabel('Find')).toBeFocused();
    // A row that is removed takes the buttons with it.
    await rules.select(mine);
    await rules.command('Remove').click();
    await expect(mine).toHaveCount(0);
    await expect(rules.grid).toBeFocused();
  } finally {
    if ((await router.rest.list(FILTER)).some((row) => row['.id'] === rule)) await router.rest.remove(FILTER, rule);
  }
});

test('keys mean the window in front, also one whose first button is switched off', async ({ ui, router }) => {
  const rule = await router.rest.add('/ip/firewall/filter', { chain: 'forward', action: 'accept', comment: 'behind' });
  try {
    const rules = await ui.open('/ip/firewall/filter');
    await rules.select(rules.row('behind'));
    await ui.page.keyboard.press('Control+k');
    await ui.page.keyboard.type('profile');
    await ui.page.keyboard.press('Enter');
    const profile = ui.page.locator('.window-active');
    await expect(profile).toContainText('CPU load');
    const inFront = () => profile.evaluate((element) => element.contains(document.activeElement));
    await expect.poll(inFront).toBe(true);
    await ui.page.keyboard.press('Control+d');
    await ui.page.keyboard.press('Delete');
    // The keyboard goes on at the button beside the one that is switched off by a press.
    await profile.getByRole('button', { name: 'Stop' }).click();
    await expect(profile.getByRole('button', { name: 'Start' })).toBeFocused();
    await ui.page.keyboard.press('Control+d');
    const [left] = (await router.rest.list('/ip/firewall/filter')).filter((row) => row['.id'] === rule);
    expect(left).toMatchObject({ comment: 'behind', disabled: 'false' });
    await ui.page.keyboard.press('Escape');
    await expect(ui.page.locator('.window', { hasText: 'handed over between workers' })).toHaveCount(0);
  } finally {
    await router.rest.remove('/ip/firewall/filter', rule);
  }
});

test('who is about to disable himself is asked, by keys and in the dialog', async ({ ui, router }) => {
  const state = async () => (await router.rest.list('/user')).find(({ name }) => name === 'admin')?.disabled;
  const users = await ui.open('/user');
  const question = ui.page.getByRole('dialog', { name: 'Disable 1 item?' });
  await users.select(users.row('admin'));
  await ui.page.keyboard.press('Control+d');
  await expect(question).toContainText('You are logged in as admin');
  await ui.page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  expect(await state()).toBe('false');
  const dialog = await users.edit(users.row('admin'), /admin/);
  await dialog.press('Disable');
  await expect(question).toBeVisible();
  await ui.page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  expect(await state()).toBe('false');
  // Yes is an answer, too; the last one who may do everything stays all the same.
  await dialog.press('Disable');
  await question.getByRole('button', { name: 'Disable 1' }).click();
  await expect(ui.page.locator('.toasts')).toContainText('the last user of group full can not be disabled');
  expect(await state()).toBe('false');
});

test('Escape and a reload ask before what was typed in an item is lost; Cancel does not', async ({ ui }) => {
  const addresses = await ui.open('/ip/address');
  const dialog = await addresses.add('Address');
  await dialog.set('Address', '10.1.2.3/24');
  const question = ui.page.getByRole('dialog', { name: 'Discard the changes in New Address?' });
  await ui.page.keyboard.press('Escape');
  await expect(question).toBeVisible();
  await ui.page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  await expect(dialog.field('Address')).toHaveValue('10.1.2.3/24');

  const asked = ui.page.waitForEvent('dialog');
  const reload = ui.page.evaluate(() => window.location.reload()).catch(() => undefined);
  const leaving = await asked;
  expect(leaving.type()).toBe('beforeunload');
  await leaving.dismiss();
  await reload;
  await expect(dialog.field('Address')).toHaveValue('10.1.2.3/24');
  await ui.page.getByLabel('User admin').click();
  await ui.page.getByRole('button', { name: 'Log out' }).click();
  await expect(question).toBeVisible();
  await ui.page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  await expect(dialog.field('Address')).toHaveValue('10.1.2.3/24');
  await dialog.press('Cancel');
  await dialog.closed();
  await expect(question).toBeHidden();
});

test('closing all windows asks before changes are lost', async ({ ui }) => {
  await ui.open('/system/identity');
  const identity = ui.window('Identity');
  const name = identity.root.getByRole('textbox', { name: 'Identity', exact: true });
  await name.fill('edge');
  const find = async () => {
    await ui.page.keyboard.press('Control+k');
    await ui.page.keyboard.type('close all windows');
  };
  const question = ui.page.getByRole('dialog', { name: 'Discard the changes in Identity?' });
  // Its code may not have come yet when it is asked first.
  await find();
  await ui.page.keyboard.press('Enter');
  await expect(question).toBeVisible();
  await ui.page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  await find();
  // From then on it is there once Enter is through: an Escape right behind it must not meet the form and its changes.
  const asked = await ui.page.evaluate(async () => {
    const enter = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true });
    document.activeElement?.dispatchEvent(enter);
    await Promise.resolve();
    return document.querySelector('dialog[open]')?.contains(document.activeElement) ?? false;
  });
  expect(asked).toBe(true);
  await expect(question).toBeVisible();
  await ui.page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  await expect(name).toHaveValue('edge');
  await find();
  await ui.page.keyboard.press('Enter');
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(identity.root).toBeHidden();
});

test('the tab of an item is open again after a reload', async ({ ui, router }) => {
  const [first] = await router.rest.list('/interface');
  await ui.page.goto(`${router.url}/interface/${first?.['.id']}`);
  const dialog = ui.page.getByRole('dialog', { name: /^Interface </ });
  await dialog.getByRole('tab', { name: 'Traffic', exact: true }).click();
  await ui.page.reload();
  await expect(dialog.getByRole('tab', { name: 'Traffic', exact: true })).toHaveAttribute('aria-selected', 'true');
});

test('on a phone, the step back from an item leaves it open while something is typed in it', async ({
  browser,
  router,
}) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true });
  try {
    const ui = new Console(await context.newPage(), router.url);
    await ui.logIn(PASSWORD, { narrow: true });
    await ui.page.getByRole('button', { name: 'Menus', exact: true }).click();
    const addresses = await ui.open('/ip/address');
    const dialog = await addresses.add('Address');
    await dialog.set('Address', '10.1.2.3/24');
    await ui.page.goBack();
    await expect(addresses.grid).toBeVisible();
    await expect(ui.page.locator('.toasts')).toContainText('New Address stays open');
    await ui.page.goForward();
    await expect(dialog.field('Address')).toHaveValue('10.1.2.3/24');
  } finally {
    await context.close();
  }
});
