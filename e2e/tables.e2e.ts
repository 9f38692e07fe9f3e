import { expect, type Locator } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import { type Menu, TITLE_MIDDLE_PX } from './page-objects.ts';

const FILTER = '/ip/firewall/filter';
const NAT = '/ip/firewall/nat';
const ACTIVE = '.window-active';

/** Asserts that a title of a table can be seen whole, without scrolling. */
async function titleInView(list: Menu, name: string): Promise<void> {
  const title = list.grid.getByRole('columnheader', { name, exact: true });
  await expect(title).toBeVisible();
  await expect
    .poll(async () => {
      const [own, grid] = [await title.boundingBox(), await list.grid.boundingBox()];
      return own !== null && grid !== null && own.x >= grid.x && own.x + own.width <= grid.x + grid.width + 1;
    })
    .toBe(true);
}

const titles = (list: Menu) => list.grid.getByRole('columnheader').allTextContents();

test('the firewall opens with what matters in view, and columns without values take no room', async ({
  ui,
  router,
}) => {
  const rules = await ui.open(FILTER);
  const count = (await router.rest.list(FILTER)).length;
  await expect(rules.row()).toHaveCount(count);
  await titleInView(rules, 'Connection State');
  await titleInView(rules, 'Packets');
  expect((await titles(rules)).join()).not.toContain('Src. Address List');
  // The last of the default rules, with its comment, is above the footer.
  const [last, foot] = [await rules.row().last().boundingBox(), await rules.root.locator('.table-foot').boundingBox()];
  expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual((foot?.y ?? 0) + 1);

  const [first] = (await router.rest.list(FILTER)).filter((row) => row.dynamic === 'false');
  const rule = await router.rest.add(FILTER, {
    chain: 'input',
    action: 'accept',
    'src-address-list': 'friends',
    disabled: 'yes',
    'place-before': first?.['.id'] ?? '',
  });
  await titleInView(rules, 'Src. Address List');
  await router.rest.remove(FILTER, rule);

  const forward = await router.rest.add(NAT, {
    chain: 'dstnat',
    action: 'dst-nat',
    protocol: 'tcp',
    'dst-port': '8443',
    'to-addresses': '192.168.88.10',
    'to-ports': '443',
  });
  await titleInView(await ui.open(NAT), 'To Addresses');
  await router.rest.remove(NAT, forward);
  const connections = await ui.open('/ip/firewall/connection');
  await expect(connections.row().first()).toBeVisible();
  await titleInView(connections, 'Repl. Rate');
});

test('a column that came with what a filter found goes when the filter does; one that was chosen stays', async ({
  ui,
  router,
}) => {
  const { rest } = router;
  const ids: string[] = [];
  // The last of many, so that a window which has just opened has not seen it.
  for (let at = 0; at < 150; at++) {
    const last = at === 149 && { protocol: 'udp', 'src-port': '5201' };
    ids.push(await rest.add(FILTER, { chain: 'far', action: 'accept', comment: `far-${at}`, ...last }));
  }
  const rules = await ui.open(FILTER);
  const title = (name: string) => rules.grid.getByRole('columnheader', { name, exact: true });
  await expect(rules.row('accept').first()).toBeVisible();
  await expect(title('Src. Port')).toHaveCount(0);
  await rules.find('far-149');
  await expect(title('Src. Port')).toBeVisible();
  await rules.find('');
  await expect(title('Src. Port')).toHaveCount(0);

  await rules.command('Filter').click();
  const funnel = rules.root.getByRole('form', { name: 'Filter' });
  await funnel.getByLabel('Property').selectOption({ label: 'Src. Port' });
  await funnel.getByLabel('Value').fill('5201');
  await funnel.getByRole('button', { name: 'Filter', exact: true }).click();
  await expect(rules.row()).toHaveCount(1);
  await expect(title('Src. Port')).toBeVisible();
  await rules.command('Columns').click();
  const chooser = ui.page.getByRole('dialog', { name: 'Columns of Filter Rules' });
  await chooser.getByRole('checkbox', { name: 'Log Prefix' }).check();
  await chooser.getByRole('searchbox').press('Escape');
  await funnel.getByRole('button', { name: 'Clear', exact: true }).click();
  await expect(rules.row('accept').first()).toBeVisible();
  await expect(title('Src. Port')).toHaveCount(0);
  await expect(title('Log Prefix')).toBeVisible();
  await rest.request('POST', `/rest${FILTER}/remove`, { '.id': ids });
});

test('the menu on a title sorts, hides, puts comments into a column, and leads to the columns beside the table', async ({
  ui,
}) => {
  const { page } = ui;
  const rules = await ui.open(FILTER);
  const first = rules.row('accept').first();
  await expect(first).toBeVisible();
  const height = async () => (await first.boundingBox())?.height ?? 0;
  const title = (name: string) => rules.grid.getByRole('columnheader', { name, exact: true });
  const tall = await height();
  await title('Chain').click({ button: 'right' });
  await expect(page.getByRole('menu', { name: 'Column Chain' })).toBeVisible();
  await page.getByRole('menuitemcheckbox', { name: 'Inline comments' }).click();
  await titleInView(rules, 'Comment');
  await expect.poll(height).toBeLessThan(tall);
  // By the keyboard, too.
  await title('Chain').getByRole('button').focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitemcheckbox', { name: 'Inline comments' }).click();
  await expect(title('Comment')).toHaveCount(0);

  await title('Action').click({ button: 'right' });
  await page.getByRole('menuitemcheckbox', { name: 'Sort descending' }).click();
  await expect(title('Action')).toHaveAttribute('aria-sort', 'descending');
  await title('Action').click({ button: 'right' });
  await page.getByRole('menuitemcheckbox', { name: 'Sort by #' }).click();

  await title('Action').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Show columns' }).click();
  const chooser = page.getByRole('dialog', { name: 'Columns of Filter Rules' });
  await page.keyboard.type('log pre');
  await expect(chooser.getByRole('checkbox')).toHaveCount(1);
  await chooser.getByRole('checkbox', { name: 'Log Prefix' }).check();
  await expect(title('Log Prefix')).toBeVisible();
  expect(await accessibilityViolations(page, ACTIVE)).toEqual([]);
  // The table stays in use meanwhile.
  await rules.select(rules.row('drop').first());
  await expect(chooser).toBeVisible();
  await chooser.getByRole('button', { name: 'Reset to default' }).click();
  await expect(title('Log Prefix')).toHaveCount(0);
  await chooser.getByRole('searchbox').press('Escape');
  await expect(chooser).toBeHidden();
  await expect(rules.root).toBeVisible();
});

test('Find marks what it found, and a row that does not show it says where it is', async ({ ui, router }) => {
  const rules = await ui.open(FILTER);
  const rule = await router.rest.add(FILTER, { chain: 'input', action: 'passthrough', 'log-prefix': 'needle-5201' });
  await rules.find('drop');
  const marks = (row: Locator) => row.locator('mark').allTextContents();
  await expect(rules.row().first()).toContainText('drop');
  await expect.poll(async () => (await marks(rules.row().first())).join()).toMatch(/^drop(,drop)*$/);
  expect(await accessibilityViolations(ui.page, ACTIVE)).toEqual([]);
  await rules.find('5201');
  await expect(rules.row()).toHaveCount(1);
  await expect(rules.row().first()).toContainText('Found in Log Prefix: needle-5201');
  expect(await marks(rules.row().first())).toEqual(['5201']);
  await expect(rules.root.locator('.table-foot').first()).toHaveText(/^1 item out of \d+$/);
  await rules.find('');
  await expect(rules.row().locator('mark')).toHaveCount(0);
  await router.rest.remove(FILTER, rule);
});

test('a text that would be cut takes the space beside it', async ({ ui }) => {
  const reasons = await ui.open('/ip/settings/slow-path');
  await reasons.toggleSize();
  const description = reasons.row('tcp-window').getByRole('gridcell').nth(1);
  await expect(description).toContainText('TCP segment');
  await expect.poll(() => description.evaluate((cell) => cell.scrollWidth <= cell.clientWidth)).toBe(true);
  await titleInView(reasons, 'Packet Rate (p/s)');
});

test('settings have their buttons where items have them; OK closes the window', async ({ ui }) => {
  await ui.open('/system/identity');
  const settings = ui.window('Identity');
  const [box, ok] = [await settings.box(), await settings.button('OK').boundingBox()];
  expect((ok?.x ?? 0) - box.x).toBeGreaterThan(box.width / 2);
  expect((ok?.y ?? 0) - box.y).toBeLessThan(60);
  await expect(settings.button('Apply')).toBeDisabled();
  const name = settings.root.getByRole('textbox', { name: 'Identity' });
  await name.fill('gateway');
  await settings.button('Apply').click();
  await expect(ui.page).toHaveTitle(/^gateway \(admin@127\.0\.0\.1:\d+\) – Tollway$/);
  await name.fill('Tollway');
  await settings.button('OK').click();
  await expect(settings.root).toBeHidden();
  await expect(ui.page).toHaveTitle(/^admin@127\.0\.0\.1:\d+ – Tollway$/);
});

test('a window that is pulled over an edge stays in reach, and opens whole', async ({ ui }) => {
  const rules = await ui.open('/ip/route');
  const start = await rules.box();
  await rules.pull({ x: start.width / 2, y: TITLE_MIDDLE_PX }, { x: -start.x - 400, y: 0 });
  const desktop = await ui.page.locator('.desktop').boundingBox();
  await expect.poll(async () => (await rules.box()).x).toBeGreaterThanOrEqual(desktop?.x ?? 0);
  await rules.command('Add').click({ trial: true });
  await rules.pull({ x: 150, y: TITLE_MIDDLE_PX }, { x: 900, y: 0 });
  await ui.page.keyboard.press('F4');
  await expect(rules.root).toBeHidden();
  const again = await ui.open('/ip/route');
  const box = await again.box();
  expect(box.x + box.width).toBeLessThanOrEqual((desktop?.x ?? 0) + (desktop?.width ?? 0) + 1);
});

test('sixteen windows: their buttons tell them apart', async ({ ui, router }) => {
  const QUEUES = '/queue/simple';
  const names = ['subscriber-0001', 'subscriber-0002', 'office'];
  const ids: string[] = [];
  for (const [at, name] of names.entries()) {
    ids.push(await router.rest.add(QUEUES, { name, target: `192.0.2.${at + 1}` }));
  }
  for (const address of [FILTER, '/interface', '/ip/route', '/ip/address', '/ip/arp', '/ip/settings', '/log', QUEUES]) {
    await ui.open(address);
  }
  for (const address of ['/system/resource', '/system/identity', '/user', '/tool/profile']) await ui.open(address);
  const queues = await ui.open(QUEUES);
  for (const name of names) {
    await queues.edit(queues.row(name), `Simple Queue <${name}>`);
    await ui.bringUp('Queue List');
  }
  const buttons = ui.taskbar.getByRole('button');
  await expect(buttons).toHaveCount(16);
  for (const name of names) {
    const button = ui.taskbar.getByRole('button', { name: `Simple Queue <${name}>`, exact: true });
    await expect(button).toHaveAttribute('title', `Simple Queue <${name}>`);
    // The end of the name is in sight, whatever is cut.
    const item = button.locator('.task-item');
    const [inner, outer] = [await item.boundingBox(), await button.boundingBox()];
    expect((inner?.x ?? 0) + (inner?.width ?? 0)).toBeLessThanOrEqual((outer?.x ?? 0) + (outer?.width ?? 0));
    expect(await item.evaluate((element) => element.scrollWidth <= element.clientWidth + 1)).toBe(true);
  }
  expect(await accessibilityViolations(ui.page, '.taskbar')).toEqual([]);
  for (const id of ids) await router.rest.remove(QUEUES, id);
});

test('Escape while a column is dragged, or its edge, leaves everything as it was', async ({ ui }) => {
  const rules = await ui.open(FILTER);
  const { mouse, keyboard } = ui.page;
  const head = (name: string) => rules.grid.getByRole('columnheader', { name, exact: true });
  const titles = () => rules.grid.getByRole('columnheader').allInnerTexts();
  const before = await titles();
  const from = await head('Action').boundingBox();
  const to = await head('Chain').boundingBox();
  if (from === null || to === null) throw new Error('the titles are not on the screen');
  await mouse.move(from.x + 10, from.y + 8);
  await mouse.down();
  await mouse.move(to.x + to.width - 4, to.y + 8, { steps: 4 });
  await keyboard.press('Escape');
  await mouse.up();
  await expect(rules.root).toBeVisible();
  expect(await titles()).toEqual(before);
  await mouse.move(from.x + from.width - 2, from.y + 8);
  await mouse.down();
  await mouse.move(from.x + from.width + 80, from.y + 8, { steps: 4 });
  await keyboard.press('Escape');
  await mouse.up();
  await expect(rules.root).toBeVisible();
  expect((await head('Action').boundingBox())?.width).toBe(from.width);
});

test('the graphs below the interfaces follow one that is renamed, with what they had', async ({ ui, router }) => {
  const list = await ui.open('/interface');
  const [first] = await router.rest.list('/interface/ethernet');
  const [id = '', name = ''] = [first?.['.id'], first?.name];
  await list.select(list.row(name).first());
  await expect(list.root.getByRole('group', { name: `Traffic of ${name}` })).toBeVisible();
  await router.rest.set('/interface/ethernet', id, { name: 'renamed' });
  try {
    const graphs = list.root.getByRole('group', { name: 'Traffic of renamed' });
    await expect(graphs).toBeVisible();
    await expect(graphs.getByRole('img', { name: /renamed bits/ })).toBeVisible();
    await expect(graphs.locator('figure').first()).not.toContainText('–');
  } finally {
    await router.rest.set('/interface/ethernet', id, { name });
  }
});

test('a column grows for a longer text that comes into view, but not under the pointer', async ({ ui, router }) => {
  const menu = '/ip/firewall/address-list';
  const short = await router.rest.add(menu, { list: 'a', address: '192.0.2.81' });
  const lists = await ui.open(menu);
  const cell = (text: string) => lists.row(text).getByRole('gridcell').filter({ hasText: text });
  await expect(cell('192.0.2.81')).toBeVisible();
  const name = lists.grid.getByRole('columnheader', { name: 'Name', exact: true });
  const width = async () => (await name.boundingBox())?.width ?? 0;
  const before = await width();
  await cell('192.0.2.81').hover();
  const long = 'a-list-with-quite-a-long-name';
  const added = await router.rest.add(menu, { list: long, address: '192.0.2.82' });
  await expect(cell(long)).toBeVisible();
  // Longer than the list takes to be drawn anew.
  await ui.page.waitForTimeout(1_500);
  expect(await width(), 'under the pointer').toBe(before);
  await ui.page.getByRole('banner').hover();
  await expect.poll(width).toBeGreaterThan(before);
  const isCut = await cell(long).evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  expect(isCut).toBe(false);
  const after = await width();
  await router.rest.remove(menu, added);
  await expect(cell(long)).toBeHidden();
  expect(await width(), 'columns do not shrink').toBe(after);
  await router.rest.remove(menu, short);
});
