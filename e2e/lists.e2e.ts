import { expect } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import { Dialog } from './page-objects.ts';

const FILTER = '/ip/firewall/filter';
const LISTS = '/ip/firewall/address-list';
const NAT = '/ip/firewall/nat';

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
    await expect(entry).toBeVisible({ timeout: 90_000 });
    expect(await lists.cell(entry, 'Timeout')).toMatch(/^00:0[45]:\d\d$/);
    expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);
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
  await expect(lists.row('guests')).toHaveCount(0, { timeout: 180_000 });
});

test('an entry with a timeout is taken away by the page', async ({ ui, router }) => {
  const lists = await ui.open(LISTS);
  const dialog = await lists.add('Firewall Address List');
  await dialog.set('Name', 'mistaken');
  await dialog.set('Address', '192.0.2.8');
  await dialog.set('Timeout', '1h30m');
  await dialog.press('OK');
  await dialog.closed();
  await expect(ui.page.locator('.toasts')).toContainText(/^Added .*192\.0\.2\.8/);
  await lists.select(lists.row('mistaken'));
  await expect(lists.command('Disable')).toBeDisabled();
  // No Undo restores the entry.
  await lists.command('Remove').click();
  const question = ui.page.getByRole('dialog', { name: 'Remove 1 item from Address Lists?' });
  await expect(question).toContainText('This cannot be undone.');
  await question.getByRole('button', { name: 'Remove 1' }).click();
  await expect(lists.row('mistaken')).toHaveCount(0);
  expect((await router.rest.list(LISTS)).filter((row) => row.list === 'mistaken')).toEqual([]);
});

test('a filter that the router refuses shows why, and no rows, until there is another one', async ({ ui }) => {
  const menu = await ui.open('/ip/firewall/connection');
  await expect(menu.row().first()).toBeVisible({ timeout: 90_000 });
  await menu.command('Filter').click();
  const funnel = menu.root.getByRole('form', { name: 'Filter' });
  await funnel.getByLabel('Property').selectOption({ label: 'Src. Address' });
  await funnel.getByLabel('Operator').selectOption({ label: 'in' });
  const ask = async (value: string) => {
    await funnel.getByLabel('Value').fill(value);
    await funnel.getByRole('button', { name: 'Filter', exact: true }).click();
  };
  await ask('192.168.0.0/33');
  const reason = menu.root.getByText(/^Not shown: .*192\.168\.0\.0\/33/);
  await expect(reason).toBeVisible();
  const value = funnel.getByLabel('Value');
  await expect(value).toHaveAttribute('aria-invalid', 'true');
  await expect(funnel.getByRole('alert')).toHaveText(/^value of src-address: 192\.168\.0\.0\/33 /);
  await expect(value).toHaveAccessibleDescription(/192\.168\.0\.0\/33/);
  await expect(menu.root.getByText('Nothing is listed: the router does not understand the filter.')).toBeVisible();
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);
  // Longer than the list is asked for anew.
  await ui.page.waitForTimeout(3_000);
  await expect(reason).toBeVisible();
  await expect(menu.row()).toHaveCount(0);
  await ask('192.168.0.0/16');
  await expect(menu.row().first()).toBeVisible();
  await expect(reason).toHaveCount(0);
  await expect(value).not.toHaveAttribute('aria-invalid', 'true');
  await expect(funnel.getByRole('alert')).toHaveCount(0);
});

test('a range of rows reaches from where it began, however far that is', async ({ ui, router }) => {
  const { rest } = router;
  const countOf = async (state: string) =>
    (await rest.list(LISTS)).filter(({ list, disabled }) => list === 'long' && disabled === state).length;
  const beside = await rest.add(LISTS, { list: 'beside', address: '10.31.0.1' });
  await rest.request(
    'PUT',
    `/rest${LISTS}`,
    Array.from({ length: 300 }, (_, at) => ({
      list: 'long',
      address: `10.30.${Math.floor(at / 100)}.${(at % 100) + 1}`,
    })),
  );
  const ids = (await rest.list(LISTS)).filter(({ list }) => list === 'long').map((row) => row['.id'] ?? '');
  try {
    const lists = await ui.open(LISTS);
    await lists.find('long');
    await expect(lists.root).toContainText(/300 items out of \d+/);
    await lists.select(lists.row('10.30.0.2').first());
    await ui.page.keyboard.press('Shift+End');
    await expect(lists.root).toContainText('299 selected');
    for (let step = 0; step < 5; step += 1) await ui.page.keyboard.press('Shift+ArrowUp');
    await expect(lists.root).toContainText('294 selected');
    await ui.page.keyboard.press('Home');
    await expect(lists.root).toContainText('1 selected');
    await ui.page.mouse.wheel(0, 4000);
    await expect(lists.row('10.30.0.2').first()).toBeHidden();
    await lists
      .row('10.30.1.')
      .last()
      .click({ modifiers: ['Shift'] });
    await expect(lists.root).toContainText(/1\d\d selected/);
    // Keys count in their order, also while the router lists what is to be selected.
    await ui.page.keyboard.press('Home');
    await expect(lists.root).toContainText('(1 selected)');
    await ui.page.keyboard.press('Control+a');
    await ui.page.keyboard.press('Control+d');
    await expect.poll(() => countOf('true')).toBe(300);
    // A row that another user removes meanwhile, out of sight, does not keep the others from being removed.
    await ui.page.keyboard.press('Control+a');
    await expect(lists.root).toContainText('300 selected');
    await rest.remove(LISTS, ids[150] ?? '');
    await ui.page.keyboard.press('Control+e');
    await expect.poll(() => countOf('false')).toBe(299);
    await expect(lists.root).toContainText('299 selected');
    await ui.page.keyboard.press('Control+a');
    await ui.page.keyboard.press('Escape');
    await expect(lists.root).not.toContainText('selected');
    await ui.page.waitForTimeout(500);
    await expect(lists.root).not.toContainText('selected');
  } finally {
    await rest.remove(LISTS, beside);
    const left = (await rest.list(LISTS)).filter(({ list }) => list === 'long').map((row) => row['.id'] ?? '');
    await rest.request('POST', `/rest${LISTS}/remove`, { '.id': left });
  }
});

test('rows that Find leaves out are selected no more, and no command means them', async ({ ui, router }) => {
  const { rest } = router;
  const many = Array.from({ length: 400 }, (_, at) => ({
    list: 'found',
    address: `10.3${Math.floor(at / 200)}.0.${(at % 200) + 1}`,
  }));
  await rest.request('PUT', `/rest${LISTS}`, many);
  const present = async () => (await rest.list(LISTS)).filter(({ list }) => list === 'found');
  const disabled = async () => (await present()).flatMap((row) => (row.disabled === 'true' ? [row.address] : []));
  try {
    const lists = await ui.open(LISTS);
    await lists.find('10.30.0.');
    await expect(lists.root).toContainText(/200 items out of \d+/);
    await lists.select(lists.row('10.30.0.1').first());
    await ui.page.keyboard.press('Shift+End');
    await expect(lists.root).toContainText('200 selected');
    // More than are loaded, so that only the router knows which of the selected ones are among them.
    await lists.find('10.3');
    await expect(lists.root).toContainText(/4\d\d items out of \d+/);
    await expect(lists.root).toContainText('200 selected');
    await lists.find('10.31.0.');
    await expect(lists.root).toContainText(/200 items out of \d+/);
    await expect(lists.root).not.toContainText('selected');
    await lists.row('10.31.0.3').first().click();
    await expect(lists.root).toContainText('1 selected');
    await ui.page.keyboard.press('Control+d');
    await expect.poll(disabled).toEqual(['10.31.0.3']);
    // A selected row that leaves the list is not removed.
    await ui.page.keyboard.press('Control+a');
    await expect(lists.root).toContainText('200 selected');
    const last = (await present()).find(({ address }) => address === '10.31.0.200')?.['.id'] ?? '';
    await rest.request('PATCH', `/rest${LISTS}/${last}`, { address: '10.32.0.1' });
    await expect(lists.root).toContainText(/199 items out of \d+/);
    await ui.page.keyboard.press('Control+d');
    await expect.poll(async () => (await disabled()).length).toBe(199);
    expect(await disabled()).not.toContain('10.32.0.1');
  } finally {
    await rest.request('POST', `/rest${LISTS}/remove`, { '.id': (await present()).map((row) => row['.id'] ?? '') });
  }
});

test('the keys go on where a row was that somebody else removed', async ({ ui, router }) => {
  const ids = new Map<string, string>();
  for (let at = 1; at <= 9; at++) {
    const address = `10.78.1.${at}`;
    ids.set(address, await router.rest.add(LISTS, { list: 'went', address }));
  }
  const remove = async (address: string) => {
    await router.rest.remove(LISTS, ids.get(address) ?? '');
    await expect(lists.row(address)).toHaveCount(0);
  };
  const lists = await ui.open(LISTS);
  const { keyboard } = ui.page;
  const selected = () =>
    lists.grid
      .getByRole('row', { selected: true })
      .evaluateAll((rows) => rows.map((row) => /10\.78\.1\.\d/.exec(row.textContent ?? '')?.[0]));
  await lists.select(lists.row('10.78.1.5'));
  await remove('10.78.1.5');
  await keyboard.press('ArrowDown');
  expect(await selected()).toEqual(['10.78.1.6']);
  await remove('10.78.1.6');
  await keyboard.press('ArrowUp');
  expect(await selected()).toEqual(['10.78.1.4']);
  await keyboard.press('Shift+ArrowDown');
  expect(await selected()).toEqual(['10.78.1.4', '10.78.1.7']);
  await remove('10.78.1.7');
  await keyboard.press('Shift+ArrowDown');
  expect(await selected()).toEqual(['10.78.1.4', '10.78.1.8']);
  await remove('10.78.1.4');
  await keyboard.press('Shift+ArrowDown');
  expect(await selected()).toEqual(['10.78.1.8', '10.78.1.9']);
  await router.rest.request('POST', `/rest${LISTS}/remove`, {
    '.id': ['1', '2', '3', '8', '9'].map((at) => ids.get(`10.78.1.${at}`)),
  });
});

test('a double click over which the list moves opens nothing', async ({ ui, router }) => {
  const rules = await ui.open(NAT);
  const add = (comment: string, before: string) =>
    router.rest.add(NAT, { chain: 'srcnat', action: 'accept', comment, 'place-before': before });
  const first = (await router.rest.list(NAT))[0]?.['.id'] ?? '';
  const ids = [await add('moves-1', first), await add('moves-2', first)];
  const box = await rules.row('moves-2').boundingBox();
  if (box === null) throw new Error('the row is not on the screen');
  const { mouse } = ui.page;
  await mouse.move(box.x + 60, box.y + box.height - 6);
  await mouse.down();
  await mouse.up();
  await expect(rules.row('moves-2')).toHaveAttribute('aria-selected', 'true');
  ids.push(await add('moves-0', ids[0] ?? ''));
  await expect(rules.row('moves-0')).toBeVisible();
  await mouse.down({ clickCount: 2 });
  await mouse.up({ clickCount: 2 });
  await expect(rules.row('moves-1')).toHaveAttribute('aria-selected', 'true');
  await expect(ui.page.getByRole('dialog')).toHaveCount(0);
  await rules.row('moves-1').dblclick();
  await expect(ui.page.getByRole('dialog', { name: /NAT Rule/ })).toBeVisible();
  await router.rest.request('POST', `/rest${NAT}/remove`, { '.id': ids });
});

test('a second Delete, on another row, counts while the first is under way; what is typed replaces what is proposed', async ({
  ui,
  router,
}) => {
  const { keyboard } = ui.page;
  for (let at = 1; at <= 4; at++) await router.rest.add(LISTS, { list: 'quick', address: `10.79.1.${at}` });
  const left = async () =>
    (await router.rest.list(LISTS)).flatMap(({ list, address }) => (list === 'quick' ? address : []));
  const lists = await ui.open(LISTS);
  await lists.select(lists.row('10.79.1.1'));
  await ui.page.route('**/rest/**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });
  for (const key of ['Delete', 'Delete', 'ArrowDown', 'Delete', 'Delete', 'ArrowDown']) await keyboard.press(key);
  await expect.poll(left).toEqual(['10.79.1.3', '10.79.1.4']);
  await expect(lists.row('10.79.1.2')).toHaveCount(0);
  await expect(lists.row('10.79.1.3')).toHaveAttribute('aria-selected', 'true');
  const dialog = await lists.edit(lists.row('10.79.1.4'), /quick/);
  await dialog.root.getByRole('button', { name: 'Remove', exact: true }).dblclick();
  await expect.poll(left).toEqual(['10.79.1.3']);
  await dialog.closed();
  await expect(ui.page.locator('.toasts')).not.toContainText('not removed');
  await ui.page.unroute('**/rest/**');
  await lists.select(lists.row('10.79.1.3'));
  await keyboard.press('Delete');
  await expect(lists.row('10.79.1.3')).toHaveCount(0);
  const rules = await ui.open(NAT);
  await rules.grid.focus();
  await keyboard.press('Insert');
  const chain = ui.page.getByRole('dialog', { name: 'New NAT Rule' }).getByLabel('Chain', { exact: true });
  await expect(chain).toBeFocused();
  await keyboard.type('dstnat');
  await expect(chain).toHaveValue('dstnat');
});

test('what is typed after Apply, before the answer comes, stays as a change that is not stored', async ({
  ui,
  router,
}) => {
  const menu = '/ip/firewall/address-list';
  const { page } = ui;
  const entry = async () => {
    const [found] = (await router.rest.list(menu)).filter(({ list }) => list === 'slow' || list === 'slower');
    return found === undefined ? undefined : `${found.list} ${found.address} ${found.comment ?? ''}`.trim();
  };
  /** Lets the answer go that is held back; the change is made before. */
  let release: () => void = () => {};
  const gate = () =>
    new Promise<void>((resolve) => {
      release = resolve;
    });
  let held = gate();
  await page.route('**/rest/**', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    const until = held;
    const response = await route.fetch();
    await until;
    await route.fulfill({ response });
  });
  const answered = async () => {
    const answer = page.waitForResponse((response) => response.request().method() !== 'GET');
    release();
    held = gate();
    await answer;
  };
  const question = page.getByRole('dialog', { name: /^Discard the changes in / });
  const lists = await ui.open(menu);

  // A new item.
  const fresh = await lists.add('Firewall Address List');
  await fresh.set('Name', 'slow');
  await fresh.set('Address', '10.2.1.4');
  await fresh.press('Apply');
  await expect.poll(entry).toBe('slow 10.2.1.4');
  await fresh.field('Address').press('End');
  await page.keyboard.type('5');
  await answered();
  const dialog = new Dialog(page, /^Firewall Address List </);
  await expect(dialog.root).toBeVisible();
  // Typing goes on over the answer.
  await page.keyboard.type('5');
  await expect(dialog.field('Address')).toHaveValue('10.2.1.455');
  await expect(dialog.root.getByRole('status').filter({ hasText: 'meanwhile' })).toHaveCount(0);
  await dialog.press('Cancel');
  await expect(question).toBeVisible();
  await page.keyboard.press('Escape');
  await dialog.set('Address', '10.2.1.45');

  // The item that it has become: another field, and the same one.
  await dialog.press('Apply');
  await expect.poll(entry).toBe('slow 10.2.1.45');
  await dialog.set('Name', 'slower');
  await answered();
  await expect(page.locator('.toasts')).toContainText('Changed Firewall Address List');
  await expect(dialog.field('Name')).toHaveValue('slower');
  await expect(dialog.field('Address')).toHaveValue('10.2.1.45');
  await dialog.press('OK');
  await expect.poll(entry).toBe('slower 10.2.1.45');
  await dialog.field('Name').press('End');
  await page.keyboard.type('s');
  await answered();
  await expect(page.locator('.toasts')).toContainText('what was typed after OK is not stored yet');
  await expect(dialog.field('Name')).toHaveValue('slowers');
  // A value that is typed back to the stored one is no change.
  await dialog.field('Name').press('Backspace');
  await dialog.press('Cancel');
  await dialog.closed();
  await expect(question).toBeHidden();

  // A comment.
  await lists.select(lists.row('10.2.1.45'));
  await page.keyboard.press('Control+m');
  const comment = page.getByRole('dialog', { name: 'Comment' });
  await comment.getByRole('textbox').fill('one');
  await page.keyboard.press('Enter');
  await expect.poll(entry).toBe('slower 10.2.1.45 one');
  await page.keyboard.type(' and two');
  await answered();
  await expect(page.locator('.toasts')).toContainText('Commented 1 item');
  await expect(comment.getByRole('textbox')).toHaveValue('one and two');
  await expect(comment.getByRole('status')).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect.poll(entry).toBe('slower 10.2.1.45 one and two');
  await answered();
  await expect(comment).toBeHidden();

  // Settings.
  await ui.open('/system/identity');
  const identity = ui.window('Identity');
  const name = identity.root.getByRole('textbox', { name: 'Identity', exact: true });
  const before = await name.inputValue();
  await name.fill('edge');
  await identity.button('Apply').click();
  const stored = async () => (await router.rest.request('GET', '/rest/system/identity')).body;
  await expect.poll(stored).toMatchObject({ name: 'edge' });
  // Back to what it was is a change, too.
  await name.fill(before);
  await answered();
  await expect(page.locator('.toasts')).toContainText('Changed Identity');
  await expect(name).toHaveValue(before);
  await identity.button('Cancel').click();
  await expect(question).toBeVisible();
  await page.keyboard.press('Escape');
  await page.unroute('**/rest/**');
  await identity.button('OK').click();
  await expect(identity.root).toBeHidden();
  await expect.poll(stored).toMatchObject({ name: before });
});

test('Escape after OK on a slow line asks nothing about what is under way, and a question goes with its window', async ({
  ui,
}) => {
  const { page } = ui;
  /** Lets what was sent go to the router; more waits again. */
  let release: () => void = () => {};
  const gate = () =>
    new Promise<void>((resolve) => {
      release = resolve;
    });
  let held = gate();
  await page.route('**/rest/**', async (route) => {
    if (route.request().method() !== 'GET') await held;
    await route.continue();
  });
  const sent = () => page.waitForRequest((request) => request.method() !== 'GET');
  const go = () => {
    release();
    held = gate();
  };
  const question = page.getByRole('dialog', { name: /^Discard the changes in / });
  const toasts = page.locator('.toasts');
  const lists = await ui.open(LISTS);
  const dialog = await lists.add('Firewall Address List');
  await dialog.set('Name', 'awaited');
  await dialog.set('Address', '10.3.1.4');
  const added = sent();
  await dialog.press('OK');
  await added;
  await page.keyboard.press('Escape');
  await expect(toasts).toContainText('What was sent is not answered yet.');
  await dialog.root.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(question).toBeHidden();
  await expect(dialog.root).toBeVisible();
  go();
  await dialog.closed();

  // Text typed during a request is asked about; typed back, there is nothing to ask when the answer comes.
  const edited = await lists.edit(lists.row('10.3.1.4'), /^Firewall Address List </);
  await edited.set('Name', 'awaited2');
  const changed = sent();
  await edited.press('OK');
  await changed;
  await edited.field('Name').press('End');
  await page.keyboard.type('3');
  await page.keyboard.press('Backspace');
  await edited.root.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(question).toBeVisible();
  go();
  await edited.closed();
  await expect(question).toBeHidden();

  // Settings: Escape puts back what was typed, but not what is under way.
  await ui.open('/system/identity');
  const identity = ui.window('Identity');
  const name = identity.root.getByRole('textbox', { name: 'Identity', exact: true });
  const before = await name.inputValue();
  await name.fill('awaited');
  const applied = sent();
  await identity.button('Apply').click();
  await applied;
  await name.press('Escape');
  await expect(name).toHaveValue('awaited');
  go();
  await expect(toasts).toContainText('Changed Identity');
  await page.unroute('**/rest/**');
  await name.fill(before);
  await identity.button('OK').click();
  await expect(identity.root).toBeHidden();
  await lists.select(lists.row('10.3.1.4'));
  await page.keyboard.press('Delete');
  await expect(lists.row('10.3.1.4')).toHaveCount(0);
});

test('a full log in which one has scrolled back stays where it is while lines come', async ({
  ui,
  router: { rest },
}) => {
  // Long ones: what the log holds has a bound in bytes.
  const write = async (from: number, lines: number) => {
    for (let line = from; line < from + lines; line += 1) {
      await rest.command('/log/info', { message: `line ${line} ${'x'.repeat(900)}` });
    }
  };
  await write(0, 600);
  const [first] = await rest.list('/log');
  expect(first?.message).not.toMatch(/^line 0 /);
  const log = await ui.open('/log');
  await expect(log.row('line 599')).toBeVisible();
  // With the pointer on them the rows stay in any case.
  await log.grid.evaluate((grid) => {
    grid.scrollTop -= grid.scrollHeight / 2;
  });
  await ui.page.mouse.move(5, 5);
  const seen = () =>
    log.grid.evaluate((grid) => {
      const { top, height } = grid.getBoundingClientRect();
      const rows = Array.from(grid.querySelectorAll('[data-id]')).filter((row) => {
        const { top: y } = row.getBoundingClientRect();
        return y > top + height / 3 && y < top + (height * 2) / 3;
      });
      return rows.map((row) => `${row.getBoundingClientRect().top} ${row.textContent?.match(/line \d+/)?.[0]}`);
    });
  await expect(async () => expect((await seen()).length).toBeGreaterThan(2)).toPass();
  const before = await seen();
  await write(600, 40);
  await expect(async () => expect((await rest.list('/log')).at(-1)?.message).toMatch(/^line 639 /)).toPass();
  // More than one turn of the list.
  await ui.page.waitForTimeout(2_500);
  expect(await seen()).toEqual(before);
});
