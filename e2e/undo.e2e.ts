import { expect, type Locator } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import type { Console, Menu } from './page-objects.ts';

const QUEUES = '/queue/simple';
const FILTER = '/ip/firewall/filter';
const LISTS = '/ip/firewall/address-list';

/** The message at the bottom with a button, e.g. Undo. */
const offered = (ui: Console, name: string): Locator =>
  ui.page.locator('.toasts').getByRole('button', { name, exact: true });

/** Rows of the list by their comments, in the order on the screen. */
async function ordered(menu: Menu, names: readonly string[]): Promise<readonly string[]> {
  const texts = await menu.row().allTextContents();
  return texts.flatMap((text) => names.find((name) => text.includes(name)) ?? []);
}

test('Delete on all that Find shows asks, Enter keeps them, and 500 queues come back at once', async ({
  ui,
  router,
}) => {
  const { rest } = router;
  await rest.request(
    'PUT',
    `/rest${QUEUES}`,
    Array.from({ length: 502 }, (_, at) => ({ name: `sub-${at}`, target: `10.1.${at >> 8}.${at & 255}` })),
  );
  // The lab has two of its own.
  const before = await rest.list(QUEUES);
  expect(before).toHaveLength(504);

  const queues = await ui.open(QUEUES);
  await queues.find('sub-');
  await expect(queues.root.getByText('502 items out of 504')).toBeVisible();
  await queues.grid.focus();
  await ui.page.keyboard.press('Control+KeyA');
  await expect(queues.root.getByText('(502 selected)')).toBeVisible();
  await ui.page.keyboard.press('Delete');
  const question = ui.page.getByRole('dialog', { name: 'Remove 502 items from Simple Queues?' });
  await expect(question).toContainText('sub-0, sub-1, sub-2, sub-3, sub-4 and 497 more.');
  await expect(question).toContainText('Find or the filter shows 502 of 504 items.');
  expect(await accessibilityViolations(ui.page, 'dialog')).toEqual([]);
  // The button that Enter presses is Cancel.
  await ui.page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  expect((await rest.list(QUEUES)).length).toBe(504);

  await queues.grid.focus();
  await ui.page.keyboard.press('Delete');
  await question.getByRole('button', { name: 'Remove 502' }).click();
  await expect.poll(async () => (await rest.list(QUEUES)).length).toBe(2);
  await offered(ui, 'Undo').click();
  await expect.poll(async () => (await rest.list(QUEUES)).length).toBe(504);
  const names = (rows: readonly Record<string, string>[]) => rows.map((row) => `${row['.id']} ${row.name}`);
  expect(names(await rest.list(QUEUES))).toEqual(names(before));
  const added = before.filter((row) => row.name?.startsWith('sub-'));
  await rest.request('POST', `/rest${QUEUES}/remove`, { '.id': added.map((row) => row['.id'] ?? '') });
});

test('Delete that is held removes one rule, and none is selected then; drag, Alt+arrows and Disable have Undo', async ({
  ui,
  router,
}) => {
  const { rest } = router;
  const names = ['one', 'two', 'three', 'four'].map((name) => `undo-${name}`);
  for (const comment of names) await rest.add(FILTER, { chain: 'forward', action: 'passthrough', comment });
  const rules = await ui.open(FILTER);
  await rules.find('undo-');
  await expect(rules.row('undo-')).toHaveCount(4);

  await rules.select(rules.row('undo-two'));
  await ui.page.keyboard.down('Delete');
  for (let repeat = 0; repeat < 5; repeat++) await ui.page.keyboard.down('Delete');
  await ui.page.keyboard.up('Delete');
  await expect(rules.row('undo-two')).toHaveCount(0);
  await ui.page.keyboard.press('Delete');
  await expect(rules.grid.locator('[aria-selected="true"]')).toHaveCount(0);
  expect(await ordered(rules, names)).toEqual(['undo-one', 'undo-three', 'undo-four']);
  await ui.page.keyboard.press('Control+KeyZ');
  await expect.poll(() => ordered(rules, names)).toEqual(names);

  await rules.drag(rules.row('undo-four'), rules.row('undo-one'));
  await expect.poll(async () => (await ordered(rules, names))[0]).toBe('undo-four');
  await offered(ui, 'Undo').click();
  await expect.poll(() => ordered(rules, names)).toEqual(names);

  await rules.select(rules.row('undo-three'));
  await ui.page.keyboard.press('Alt+ArrowUp');
  await expect.poll(async () => (await ordered(rules, names))[1]).toBe('undo-three');
  await offered(ui, 'Undo').click();
  await expect.poll(() => ordered(rules, names)).toEqual(names);

  await rules.select(rules.row('undo-one'));
  await ui.page.keyboard.press('Control+KeyD');
  const disabled = async () =>
    (await rest.list(FILTER)).flatMap((row) => (row.disabled === 'true' && row.comment ? row.comment : []));
  await expect.poll(disabled).toEqual(['undo-one']);
  // While somebody types, Ctrl+Z is the field's own.
  await rules.root.getByRole('searchbox', { name: 'Find' }).press('Control+KeyZ');
  await rules.grid.focus();
  expect(await disabled()).toEqual(['undo-one']);
  await ui.page.keyboard.press('Control+KeyZ');
  await expect.poll(disabled).toEqual([]);
});

test('an undo that failed is the next one still: an earlier change stays, and what was done without an answer is found', async ({
  ui,
  router,
}) => {
  const { rest } = router;
  for (const name of ['kept', 'gone']) await rest.add(QUEUES, { name, target: '10.77.0.1' });
  const state = async () =>
    (await rest.list(QUEUES)).flatMap(({ name, disabled }) =>
      name === 'kept' || name === 'gone' ? [`${name} ${disabled}`] : [],
    );
  const queues = await ui.open(QUEUES);
  const change = async () => {
    await queues.select(queues.row('kept'));
    await ui.page.keyboard.press('Control+KeyD');
    await expect.poll(state).toContain('kept true');
    await queues.select(queues.row('gone'));
    await ui.page.keyboard.press('Delete');
    await expect.poll(state).toEqual(['kept true']);
  };
  const failure = ui.page.getByRole('alert').filter({ hasText: 'Not undone: Removed 1 item from Simple Queues' });

  // The name is taken meanwhile.
  await change();
  const taken = await rest.add(QUEUES, { name: 'gone', target: '10.77.0.2' });
  await ui.page.keyboard.press('Control+KeyZ');
  await expect(failure).toContainText('already have');
  expect(await accessibilityViolations(ui.page, '.toasts')).toEqual([]);
  await expect(failure.getByRole('button', { name: 'Skip' })).toBeVisible();
  await rest.remove(QUEUES, taken);
  await failure.getByRole('button', { name: 'Try Again' }).click();
  await expect.poll(state).toEqual(['kept true', 'gone false']);
  await ui.page.keyboard.press('Control+KeyZ');
  await expect.poll(state).toEqual(['kept false', 'gone false']);

  // The change is made, and the answer is lost.
  await change();
  await ui.page.route('**/undo', async (route) => {
    await route.fetch();
    await route.abort();
  });
  // The router has removed it before the page hears of that: until then Undo is of the change before.
  await expect(ui.page.locator('.toasts')).toContainText('Removed 1 item from Simple Queues.');
  await offered(ui, 'Undo').click();
  await expect(failure).toContainText('no answer came');
  await ui.page.unroute('**/undo');
  expect(await state()).toEqual(['kept true', 'gone false']);
  await queues.grid.focus();
  await ui.page.keyboard.press('Control+KeyZ');
  await expect(offered(ui, 'Redo')).toBeVisible();
  expect(await state()).toEqual(['kept true', 'gone false']);
  await ui.page.keyboard.press('Control+KeyZ');
  await expect.poll(state).toEqual(['kept false', 'gone false']);
  for (const name of ['kept', 'gone']) await rest.remove(QUEUES, name);
});

test('the history lists changes with what they did, undoes one, and tells why another stays', async ({
  ui,
  router,
}) => {
  const { rest } = router;
  const id = await rest.add('/ip/firewall/address-list', { list: 'history', address: '192.0.2.1' });
  await rest.request('PATCH', `/rest/ip/firewall/address-list/${id}`, { comment: 'first' });
  await rest.request('PATCH', `/rest/ip/firewall/address-list/${id}`, { comment: 'second' });
  await ui.open('/system/history');
  const history = ui.window('History');
  const line = history.root.getByRole('row').filter({ hasText: 'set /ip/firewall/address-list' });
  await expect(line).toHaveCount(2);
  await expect(line.nth(0)).toContainText('admin');
  await expect(line.nth(0)).toContainText('rest');
  await expect(line.nth(1)).toContainText('was changed after revision');
  await expect(line.nth(1).getByRole('button', { name: /^Undo/ })).toHaveCount(0);
  await line
    .nth(0)
    .getByRole('button', { name: /set .ip.firewall.address-list/ })
    .click();
  await expect(history.root.getByRole('region', { name: /^Revision / }).getByRole('listitem')).toContainText(
    'comment first → second',
  );
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);
  await line.nth(0).getByRole('button', { name: /^Undo/ }).click();
  await expect(line.nth(0)).toContainText('undone by');
  const [entry] = (await rest.list('/ip/firewall/address-list')).filter((row) => row['.id'] === id);
  expect(entry?.comment).toBe('first');
  await rest.remove('/ip/firewall/address-list', id);
});

test('the details of a change can be read below a history that is longer than its window', async ({ ui, router }) => {
  const { rest } = router;
  const id = await rest.add(LISTS, { list: 'long-history', address: '192.0.2.3' });
  for (let change = 0; change < 40; change += 1) await rest.set(LISTS, id, { comment: `change ${change}` });
  const ids = await rest.request('PUT', `/rest${LISTS}`, [
    { list: 'long-history', address: '192.0.2.4' },
    { list: 'long-history', address: '192.0.2.5' },
  ]);
  expect(ids.status).toBe(201);
  await ui.open('/system/history');
  const { root } = ui.window('History');
  const details = root.getByRole('region', { name: /^Revision / });
  await root.getByRole('row').nth(2).getByRole('button', { expanded: false }).click();
  const heights = () => details.evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]);
  await expect(details.getByRole('listitem')).toHaveCount(1);
  const [seen, whole] = await heights();
  expect(seen, 'one row is seen whole').toBe(whole);
  expect(seen).toBeGreaterThan(20);
  await root.getByRole('row').nth(1).getByRole('button', { expanded: false }).click();
  await expect(details.getByRole('listitem')).toHaveCount(2);
  const [seenOfTwo, wholeOfTwo] = await heights();
  expect(seenOfTwo, 'so are two').toBe(wholeOfTwo);
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);
});

test('what others change does not move the history under the pointer', async ({ ui, router }) => {
  const { rest } = router;
  const menu = '/ip/firewall/address-list';
  const add = (address: string) => rest.add(menu, { list: 'pointed', address });
  const ids = [await add('192.0.2.1'), await add('192.0.2.2')];
  await ui.open('/system/history');
  const history = ui.window('History');
  const lines = history.root.getByRole('row').filter({ hasText: 'pointed' });
  await expect(lines).toHaveCount(2);
  const undo = lines.filter({ hasText: '192.0.2.2' }).getByRole('button', { name: /^Undo/ });
  const box = await undo.boundingBox();
  if (box === null) throw new Error('Undo is not on the screen');
  await ui.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  ids.push(await add('192.0.2.3'));
  await expect(history.root.getByRole('status')).toContainText('1 newer when the pointer leaves the list');
  await ui.page.mouse.down();
  await ui.page.mouse.up();
  await expect
    .poll(async () => (await rest.list(menu)).flatMap((row) => (row.list === 'pointed' ? row.address : [])))
    .toEqual(['192.0.2.1', '192.0.2.3']);
  // Rows keep their height when the Undo of other revisions goes.
  const heights = await history.root
    .getByRole('region', { name: 'Revisions' })
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
  expect(heights.length).toBeGreaterThan(1);
  expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(0.5);
  await ui.page.mouse.move(5, 5);
  await expect(lines.filter({ hasText: '192.0.2.3' })).toHaveCount(1);
  for (const id of [ids[0], ids[2]]) await rest.remove(menu, id ?? '');
});

test('Ctrl+Z after a change of a user says that there is no way back, before it undoes what is older', async ({
  ui,
  router,
}) => {
  const menu = '/ip/firewall/address-list';
  const entries = async () => (await router.rest.list(menu)).filter(({ list }) => list === 'older');
  const lists = await ui.open(menu);
  const entry = await lists.add('Firewall Address List');
  await entry.set('Name', 'older');
  await entry.set('Address', '10.66.0.1');
  await entry.press('OK');
  await entry.closed();
  const users = await ui.open('/user');
  const user = await users.add('User');
  await user.set('Name', 'carol');
  await user.set('Group', 'read');
  await user.set('Password', 'a long one for carol');
  await user.press('OK');
  await user.closed();
  await users.grid.focus();
  await ui.page.keyboard.press('Control+z');
  await expect(ui.page.locator('.toasts')).toContainText(
    'no way back from it: Added User <carol>. Next to undo: Added',
  );
  expect(await entries()).toHaveLength(1);
  await ui.page.keyboard.press('Control+z');
  await expect.poll(entries).toHaveLength(0);
});

test('Ctrl+Z at once after Delete undoes that one, and the second of two quick keys counts', async ({ ui, router }) => {
  const { rest } = router;
  const ids = [];
  for (const comment of ['older', 'newer', 'third']) {
    ids.push(await rest.add(FILTER, { chain: 'forward', action: 'passthrough', comment, disabled: 'true' }));
  }
  const rules = await ui.open(FILTER);
  const state = async () =>
    (await rest.list(FILTER)).flatMap(({ comment, disabled }) =>
      ['older', 'newer', 'third'].includes(comment ?? '') ? `${comment} ${disabled}` : [],
    );
  await rules.select(rules.row('older'));
  await ui.page.keyboard.press('Control+e');
  await expect.poll(state).toEqual(['older false', 'newer true', 'third true']);
  await expect(ui.page.locator('.toasts')).toContainText('Enabled');
  // The line to the router is slow.
  await ui.page.route('**/rest/**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });
  await rules.select(rules.row('newer'));
  await ui.page.keyboard.press('Delete');
  await ui.page.keyboard.press('Control+z');
  await expect(ui.page.locator('.toasts')).toContainText('Undone: Removed 1 item', { timeout: 45_000 });
  expect((await state()).sort()).toEqual(['newer true', 'older false', 'third true']);
  await rules.select(rules.row('third'));
  await ui.page.keyboard.press('Control+e');
  await ui.page.keyboard.press('Control+d');
  await expect(ui.page.locator('.toasts')).toContainText('Disabled 1 item', { timeout: 45_000 });
  expect(await state()).toContain('third true');
  await ui.page.unroute('**/rest/**');
  // The second click of a double click neither repeats the action nor reaches the page below.
  await ui.page.locator('.toasts').getByRole('button', { name: 'Undo' }).dblclick();
  await expect(ui.page.locator('.toasts')).toContainText('Undone: Disabled 1 item');
  expect(await state()).toContain('third false');
  await expect(rules.root).toHaveClass(/window-active/);
  for (const id of ids) await rest.remove(FILTER, id);
});

test('a double click on Undo does not press Redo, which appears in its place; later clicks do', async ({
  ui,
  router,
}) => {
  const { rest } = router;
  const { mouse } = ui.page;
  const id = await rest.add(FILTER, { chain: 'forward', action: 'passthrough', comment: 'undone once' });
  const disabled = async () => (await rest.list(FILTER)).find((row) => row['.id'] === id)?.disabled;
  const rules = await ui.open(FILTER);
  for (const gap of [80, 300, 700]) {
    await rules.select(rules.row('undone once'));
    await ui.page.keyboard.press('Control+d');
    await expect.poll(disabled).toBe('true');
    const box = await offered(ui, 'Undo').boundingBox();
    if (box === null) throw new Error('Undo is not on the screen');
    // Redo is in a longer message, and a little to the right.
    await mouse.move(box.x + box.width - 6, box.y + box.height / 2);
    await mouse.down();
    await mouse.up();
    await ui.page.waitForTimeout(gap);
    await mouse.down();
    await mouse.up();
    await expect(offered(ui, 'Redo')).toBeVisible();
    await ui.page.waitForTimeout(500);
    expect(await disabled(), `${gap} ms`).toBe('false');
  }
  await ui.page.waitForTimeout(1000);
  await mouse.down();
  await mouse.up();
  await expect.poll(disabled).toBe('true');
  await rest.remove(FILTER, id);
});

test('an answer that is lost on the line leaves open whether it was done, for Ctrl+Z too', async ({ ui, router }) => {
  const menu = '/ip/firewall/address-list';
  const { page } = ui;
  const state = async () =>
    (await router.rest.list(menu)).flatMap(({ list, address, disabled }) =>
      list === 'lost' ? [`${address} ${disabled}`] : [],
    );
  const id = await router.rest.add(menu, { list: 'lost', address: '192.0.2.1' });
  const lists = await ui.open(menu);
  await lists.select(lists.row('192.0.2.1'));
  await page.keyboard.press('Control+d');
  await expect.poll(state).toEqual(['192.0.2.1 true']);
  await expect(offered(ui, 'Undo')).toBeVisible();

  await page.route('**/rest/**', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await route.fetch();
    await route.abort();
  });
  const unknown = 'No answer came, so it is not known whether this was done: look before you do it again.';
  const dialog = await lists.add('Firewall Address List');
  await dialog.set('Name', 'lost');
  await dialog.set('Address', '192.0.2.2');
  await dialog.press('OK');
  await expect(dialog.root.getByRole('alert')).toHaveText(unknown);
  expect(await accessibilityViolations(page, '.window-active')).toEqual([]);
  // The list behind shows what came, and the window has what was typed.
  await expect(lists.row('192.0.2.2')).toHaveCount(1);
  await expect(dialog.field('Address')).toHaveValue('192.0.2.2');
  await dialog.press('Cancel');
  await dialog.closed();
  await lists.select(lists.row('192.0.2.2'));
  await page.keyboard.press('Delete');
  await expect(page.locator('.toasts')).toContainText(`Remove: ${unknown}`);
  await expect(lists.row('192.0.2.2')).toHaveCount(0);
  expect(await state()).toEqual(['192.0.2.1 true']);
  await page.unroute('**/rest/**');

  await lists.grid.focus();
  for (const tried of ['Remove 1 item from Address Lists', 'Add Firewall Address List <192.0.2.2, lost>']) {
    await page.keyboard.press('Control+z');
    await expect(page.locator('.toasts')).toContainText(`it is not known whether it was done: ${tried}. Look for it.`);
    expect(await state()).toEqual(['192.0.2.1 true']);
  }
  await page.keyboard.press('Control+z');
  await expect.poll(state).toEqual(['192.0.2.1 false']);
  await router.rest.remove(menu, id);
});
