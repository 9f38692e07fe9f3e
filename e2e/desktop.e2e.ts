import { expect, type Locator } from '@playwright/test';
import { test } from './fixtures.ts';
import { TITLE_MIDDLE_PX } from './page-objects.ts';

test('a window is moved, resized, maximised and minimised by mouse, and is where it was after a reload', async ({
  ui,
}) => {
  const win = await ui.open('/ip/address');
  const before = await win.box();
  await win.pull({ x: before.width / 2, y: TITLE_MIDDLE_PX }, { x: 120, y: 90 });
  const moved = await win.box();
  expect(moved).toEqual({ ...before, x: before.x + 120, y: before.y + 90 });
  await win.pull({ x: moved.width - 2, y: moved.height - 2 }, { x: -80, y: -60 });
  const resized = await win.box();
  expect(resized).toEqual({ ...moved, width: moved.width - 80, height: moved.height - 60 });

  await win.toggleSize();
  await expect.poll(async () => (await win.box()).width).toBeGreaterThan(1000);
  await win.toggleSize();
  await expect.poll(() => win.box()).toEqual(resized);

  const task = ui.taskbar.getByRole('button', { name: 'Address List', exact: true });
  await win.button('Minimise').click();
  await expect(win.root).toBeHidden();
  await task.click();
  await expect(win.root).toBeVisible();

  await ui.page.reload();
  await expect(win.root).toBeVisible();
  expect(await win.box()).toEqual(resized);
  await win.button('Close').click();
  await expect(win.root).toBeHidden();
  await ui.page.reload();
  await expect(ui.tree).toBeVisible();
  await expect(win.root).toBeHidden();
});

test('a window that is pulled fast from over a link goes with the pointer', async ({ ui }) => {
  const { mouse } = ui.page;
  const win = await ui.open('/ip/address');
  const link = await ui.window('Dashboard').root.getByRole('link', { name: 'Throughput' }).boundingBox();
  const box = await win.box();
  if (link === null) throw new Error('the link is not on the screen');
  const at = { x: box.x + box.width / 2, y: link.y + link.height / 2 };
  await win.pull({ x: box.width / 2, y: TITLE_MIDDLE_PX }, { x: 0, y: at.y - box.y - TITLE_MIDDLE_PX });
  const before = await win.box();
  await mouse.move(at.x, at.y);
  await mouse.down();
  for (const by of [100, 200, 300]) await mouse.move(at.x, at.y + by);
  await mouse.up();
  expect(await win.box()).toEqual({ ...before, y: before.y + 300 });
});

test('the desktop does not scroll to what gets the focus: its window comes onto the desktop', async ({ ui }) => {
  const { keyboard } = ui.page;
  const scrolled = () =>
    ui.page.evaluate(() => {
      const of = (element: Element | null) => [element?.scrollLeft, element?.scrollTop];
      return [...of(document.querySelector('main.desktop')), ...of(document.scrollingElement)];
    });
  const rules = await ui.open('/ip/firewall/filter');
  const dashboard = ui.window('Dashboard');
  const before = await dashboard.box();
  const desktop = await ui.page.getByRole('main').boundingBox();
  if (desktop === null) throw new Error('there is no desktop');
  const isWhole = async () => {
    const { x, y, width, height } = await rules.box();
    return x + width <= desktop.x + desktop.width && y + height <= desktop.y + desktop.height;
  };
  const box = await rules.box();
  await rules.pull({ x: 60, y: TITLE_MIDDLE_PX }, { x: desktop.x + desktop.width - box.x - 150, y: 60 });
  await ui.page.mouse.click((await rules.box()).x + 70, (await rules.box()).y + TITLE_MIDDLE_PX);
  // A press of the pointer moves nothing.
  expect(await isWhole()).toBe(false);
  for (let steps = 0; steps < 14; steps++) await keyboard.press('Tab');
  await expect.poll(isWhole).toBe(true);
  expect(await scrolled()).toEqual([0, 0, 0, 0]);
  expect(await dashboard.box()).toEqual(before);

  // Below the lower edge, when the window before it is closed by key.
  const { width } = await rules.box();
  await rules.pull({ x: width / 2, y: TITLE_MIDDLE_PX }, { x: 0, y: desktop.height - 200 });
  await rules.grid.focus();
  expect(await isWhole()).toBe(false);
  await ui.open('/log');
  await keyboard.press('F4');
  await expect.poll(isWhole).toBe(true);
  expect(await scrolled()).toEqual([0, 0, 0, 0]);
});

test('the second press of a double click does not reach what the first one has uncovered', async ({ ui, router }) => {
  const { mouse } = ui.page;
  const FILTER = '/ip/firewall/filter';
  const id = await router.rest.add(FILTER, { chain: 'forward', action: 'passthrough', comment: 'pressed twice' });
  const centre = async (control: Locator) => {
    const box = await control.boundingBox();
    if (box === null) throw new Error('the control is not on the screen');
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  /** Gaps of two clicks of a quick hand, which a browser counts, and of a slow one. */
  const gaps = [
    async ({ x, y }: { x: number; y: number }) => mouse.dblclick(x, y),
    async ({ x, y }: { x: number; y: number }) => {
      await mouse.click(x, y);
      await ui.page.waitForTimeout(200);
      await mouse.click(x + 2, y);
    },
  ];
  const rules = await ui.open(FILTER);
  await rules.find('pressed twice');
  // The dialog does not go over the left edge.
  await rules.pull({ x: 200, y: TITLE_MIDDLE_PX }, { x: 460, y: 100 });
  for (const twice of gaps) {
    await rules.select(rules.row('pressed twice'));
    const dialog = await rules.edit(rules.row('pressed twice'), /^Firewall Rule </);
    await expect(dialog.field('Chain')).toBeVisible();
    // Its X over Disable of the list.
    const close = dialog.root.getByRole('button', { name: 'Close', exact: true });
    const disable = await centre(rules.command('Disable'));
    const from = await centre(close);
    const box = await dialog.root.boundingBox();
    if (box === null) throw new Error('the window is not on the screen');
    await mouse.move(box.x + box.width / 2, from.y);
    await mouse.down();
    await ui.page.keyboard.down('Alt');
    await mouse.move(box.x + box.width / 2 + 40, from.y + 40);
    await mouse.move(box.x + box.width / 2 + disable.x - from.x, disable.y, { steps: 4 });
    await mouse.up();
    await ui.page.keyboard.up('Alt');
    expect(await centre(close)).toEqual(disable);
    await twice(disable);
    await dialog.closed();
    await ui.page.waitForTimeout(500);
    const [rule] = (await router.rest.list(FILTER)).filter((row) => row['.id'] === id);
    expect(rule?.disabled).toBe('false');
  }
  await router.rest.remove(FILTER, id);

  await rules.toggleSize();
  const log = await ui.open('/log');
  await log.toggleSize();
  await expect.poll(async () => (await log.box()).width).toBeGreaterThan(1000);
  for (const twice of gaps) {
    const above = await ui.open('/ip/address');
    if ((await above.box()).width < 1000) await above.toggleSize();
    await expect.poll(async () => (await above.box()).width).toBeGreaterThan(1000);
    await twice(await centre(above.button('Close')));
    await expect(above.root).toBeHidden();
    await ui.page.waitForTimeout(500);
    await expect(log.root).toBeVisible();
  }
  // Presses one after the other still close one window each.
  for (const { root } of [log, rules]) {
    await root.getByRole('button', { name: 'Close', exact: true }).click();
    await expect(root).toBeHidden();
    await ui.page.waitForTimeout(500);
  }
});

test('a window by the keyboard alone: opened from the tree, moved, resized, maximised, minimised, closed', async ({
  ui,
}) => {
  const { keyboard } = ui.page;
  await ui.tree.getByRole('treeitem').first().focus();
  await keyboard.press('Home');
  const wanted = ui.tree.getByRole('treeitem', { name: 'Log', exact: true });
  for (let steps = 0; steps < 40 && !(await wanted.evaluate((item) => item === document.activeElement)); steps++) {
    await keyboard.press('ArrowDown');
  }
  await keyboard.press('Enter');
  const log = ui.window('Log');
  await expect(log.root).toBeVisible();
  await expect.poll(() => log.root.evaluate((root) => root.contains(document.activeElement))).toBe(true);

  const choose = async (entry: string) => {
    await keyboard.press('Alt+Minus');
    await expect(ui.page.getByRole('menuitem', { name: entry })).toBeVisible();
    const chosen = ui.page.getByRole('menuitem', { name: entry });
    for (let steps = 0; steps < 12 && !(await chosen.evaluate((item) => item === document.activeElement)); steps++) {
      await keyboard.press('ArrowDown');
    }
    await keyboard.press('Enter');
  };
  const before = await log.box();
  await choose('Move');
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'Enter']) await keyboard.press(key);
  const moved = await log.box();
  expect(moved.x).toBeGreaterThan(before.x);
  expect(moved.y).toBeGreaterThan(before.y);
  await choose('Resize');
  for (const key of ['ArrowLeft', 'ArrowUp', 'Enter']) await keyboard.press(key);
  const resized = await log.box();
  expect(resized.width).toBeLessThan(moved.width);
  expect(resized.height).toBeLessThan(moved.height);
  await choose('Move');
  await keyboard.press('ArrowRight');
  await keyboard.press('Escape');
  expect(await log.box()).toEqual(resized);
  await choose('Maximise');
  await expect.poll(async () => (await log.box()).width).toBeGreaterThan(1000);
  await choose('Restore');
  await expect.poll(() => log.box()).toEqual(resized);

  // F6 goes to the next window, with Shift to the one before; Alt+W closes it.
  const addresses = await ui.open('/ip/address');
  await keyboard.press('Shift+F6');
  await keyboard.press('Alt+KeyW');
  await expect(log.root).toBeHidden();
  await expect(addresses.root).toBeVisible();
});

test('the keyboard alone: table, dialog, and the focus comes back', async ({ ui }) => {
  const menu = await ui.open('/ip/address');
  await expect(menu.row('192.168.88.1/24')).toHaveCount(1);
  await menu.grid.focus();
  await ui.page.keyboard.press('ArrowDown');
  await ui.page.keyboard.press('Enter');
  const dialog = ui.page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  await ui.page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(menu.grid).toBeFocused();
});

test('Ctrl+K finds a window by its name', async ({ ui }) => {
  await ui.page.keyboard.press('Control+KeyK');
  await ui.page.keyboard.type('nat');
  await ui.page.keyboard.press('Enter');
  await expect(ui.window('Firewall').root.getByRole('tab', { name: 'NAT', exact: true })).toHaveAttribute(
    'aria-selected',
    'true',
  );
});

test('a deep link opens its window and the dialog of an item', async ({ ui, router }) => {
  const [first] = await router.rest.list('/ip/address');
  await ui.page.goto(`${router.url}/ip/address/${first?.['.id']}`);
  await expect(ui.page.getByRole('dialog', { name: first?.address ?? '' })).toBeVisible();
  await ui.page.goto(`${router.url}/ip/firewall/nat`);
  await expect(ui.window('Firewall').root.getByRole('tab', { name: 'NAT', exact: true })).toHaveAttribute(
    'aria-selected',
    'true',
  );
});

test('a tab keeps its selection while another one is looked at; a graph grows a dialog that nobody sized', async ({
  ui,
}) => {
  const menu = await ui.open('/ip/firewall/filter');
  const rule = menu.row('drop all that does not come from LAN');
  await menu.select(rule);
  await ui.open('/ip/firewall/nat');
  await expect(rule).toHaveCount(0);
  await ui.open('/ip/firewall/filter');
  await expect(rule).toHaveAttribute('aria-selected', 'true');

  const interfaces = await ui.open('/interface');
  const dialog = await interfaces.edit(interfaces.row('ether').first(), /^Interface </);
  await dialog.tab('Traffic');
  const graphs = dialog.root.getByRole('img', { name: /^Graph of/ });
  await expect(graphs).toHaveCount(2);
  for (const graph of await graphs.all()) await expect(graph).toBeInViewport({ ratio: 0.9 });
});

test('who may only look is offered no commands', async ({ ui, router, browser }) => {
  await router.rest.add('/user', { name: 'reader', group: 'read', password: 'only-looks' });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${ui.url}/ip/address`);
  await page.getByLabel('User').fill('reader');
  await page.getByLabel('Password').fill('only-looks');
  await page.getByRole('button', { name: 'Log in' }).click();
  const list = page.getByRole('region', { name: 'Address List' });
  await expect(list.getByRole('grid')).toContainText('192.168.88.1/24');
  await expect(list.getByRole('button', { name: 'Add', exact: true })).toHaveCount(0);
  await list.getByText('192.168.88.1/24').dblclick();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Address', { exact: true })).toBeDisabled();
  await expect(dialog.getByRole('button', { name: 'Apply' })).toHaveCount(0);
  await page.goto(`${ui.url}/queue/simple`);
  const queues = page.getByRole('region', { name: 'Queue List' });
  await expect(queues.getByRole('button', { name: 'Hints' })).toBeVisible();
  await expect(queues.getByRole('button', { name: 'Import' })).toHaveCount(0);
  await page.goto(`${ui.url}/queue/simple/import`);
  const imported = page.getByRole('region', { name: 'Import Subscribers' });
  await expect(imported).toContainText('Your group may not add queues.');
  await expect(imported.getByRole('button', { name: 'Dry Run' })).toHaveCount(0);
  await context.close();
});

test('who is moved to another group is offered what that one may', async ({ ui, router, browser }) => {
  const id = await router.rest.add('/user', { name: 'mover', group: 'write', password: 'moves-around' });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${ui.url}/ip/address`);
    await page.getByLabel('User').fill('mover');
    await page.getByLabel('Password').fill('moves-around');
    await page.getByRole('button', { name: 'Log in' }).click();
    const list = page.getByRole('region', { name: 'Address List' });
    const add = list.getByRole('button', { name: 'Add', exact: true });
    await expect(add).toHaveCount(1);
    await router.rest.set('/user', id, { group: 'read' });
    await expect(add).toHaveCount(0);
    await expect(list.getByRole('grid')).toContainText('192.168.88.1/24');
    await router.rest.set('/user', id, { group: 'write' });
    await expect(add).toHaveCount(1);
    // The typed list of subscribers outlives the reload.
    await page.goto(`${ui.url}/queue/simple/import`);
    const imported = page.getByRole('region', { name: 'Import Subscribers' });
    await imported.getByRole('textbox').fill('one,10.64.0.1,5M,20M');
    await router.rest.set('/user', id, { group: 'read' });
    await expect(imported.getByRole('alert')).toContainText('Your group may not add queues now.');
    await expect(imported.getByRole('button', { name: 'Dry Run' })).toBeDisabled();
    await router.rest.set('/user', id, { group: 'write' });
    await expect(imported.getByRole('button', { name: 'Dry Run' })).toBeEnabled();
    await expect(imported.getByRole('textbox')).toHaveValue('one,10.64.0.1,5M,20M');
  } finally {
    await context.close();
  }
});
