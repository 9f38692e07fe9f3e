import { expect } from '@playwright/test';
import { PASSWORD, SERVER } from '../tests/network/router.ts';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import { Console, Dialog } from './page-objects.ts';

test('a rule from the browser: error beside the field, mended, and its effect on a real ping', async ({
  ui,
  router,
}) => {
  const lan = router.host('lan');
  expect(lan.ping(SERVER, 2)).toBe(2);
  const filter = await ui.open('/ip/firewall/filter');
  // All rows in sight, to be dragged.
  await filter.toggleSize();
  await expect(filter.row('defconf').first()).toBeVisible();
  const rules = (await router.rest.list('/ip/firewall/filter')).filter((rule) => rule.dynamic !== 'true').length;

  const dialog = await filter.add('Firewall Rule');
  await dialog.set('Chain', 'forward');
  await dialog.set('Protocol', 'icmp');
  await dialog.set('Src. Address', '192.168.88.0/33');
  await dialog.tab('Action');
  await dialog.set('Action', 'drop');
  await dialog.press('OK');
  await expect(dialog.field('Src. Address')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.field('Src. Address')).toHaveAccessibleDescription(/./);
  // Its tab has come up, and it is ready to be mended.
  await expect(dialog.field('Src. Address')).toBeFocused();
  // As pasted text, with blanks around it.
  await dialog.set('Src. Address', ' 192.168.88.0/24 ');
  await dialog.press('OK');
  await dialog.closed();
  const mine = filter.row('192.168.88.0/24', 'icmp');
  await expect(mine).toHaveCount(1);

  // Behind the rules that accept what is established it has nothing to say to a ping that runs; in front it has.
  const order = async () => {
    const all = await router.rest.list('/ip/firewall/filter');
    return all
      .filter((rule) => rule.dynamic !== 'true')
      .findIndex((rule) => rule.protocol === 'icmp' && rule.action === 'drop');
  };
  expect(await order()).toBe(rules);
  await filter.drag(mine, filter.row('established, related and untracked').first());
  await expect.poll(order).toBe(0);
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(0);
  await expect.poll(() => filter.number(mine, 'Packets')).toBeGreaterThan(0);

  // By the keyboard behind the next rule and back.
  await filter.select(mine);
  await ui.page.keyboard.press('Alt+ArrowDown');
  await expect.poll(order).toBe(1);
  await ui.page.keyboard.press('Alt+ArrowUp');
  await expect.poll(order).toBe(0);

  await filter.command('Disable').click();
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(1);
  await filter.command('Enable').click();
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(0);

  await filter.command('Comment').click();
  await ui.page.getByRole('dialog', { name: 'Comment' }).getByLabel('Comment').fill('no pings today');
  await ui.page.getByRole('dialog', { name: 'Comment' }).getByRole('button', { name: 'OK' }).click();
  await expect(filter.row('no pings today')).toHaveCount(1);

  await filter.find(' no pings ');
  await expect(filter.row()).toHaveCount(1);
  await filter.find('');
  await expect(filter.row('drop invalid')).toHaveCount(2);

  await filter.select(mine);
  await filter.command('Remove').click();
  await expect(mine).toHaveCount(0);
  await expect.poll(() => lan.ping(SERVER, 1)).toBe(1);
});

test('the counters of fasttracked packets stand on top, and nobody can change that row', async ({ ui, router }) => {
  const filter = await ui.open('/ip/firewall/filter');
  const dummy = filter.row('special dummy rule to show fasttrack counters');
  await expect(dummy).toHaveCount(1);
  await expect(filter.row().first()).toContainText('special dummy rule');
  const packets = () => filter.number(dummy, 'Packets');
  const first = await packets();
  await expect.poll(packets).toBeGreaterThan(first);
  await filter.select(dummy);
  for (const command of ['Remove', 'Disable', 'Move up', 'Move down']) {
    await expect(filter.command(command)).toBeDisabled();
  }
  expect((await router.rest.list('/ip/firewall/filter'))[0]?.dynamic).toBe('true');
});

test('what the server refuses is shown beside the field', async ({ ui }) => {
  const addresses = await ui.open('/ip/address');
  const dialog = await addresses.add('Address');
  await dialog.set('Address', '192.0.2.1/24');
  await dialog.set('Interface', 'ether77');
  await dialog.press('Apply');
  await expect(dialog.field('Interface')).toHaveAccessibleDescription(/ether77|interface/i);
  await expect(dialog.field('Interface')).toBeFocused();
  await dialog.press('Cancel');
  await dialog.closed();
  await expect(addresses.row('192.0.2.1/24')).toHaveCount(0);
});

test('several dialogs at once, and an edit reaches the router', async ({ ui, router }) => {
  const menu = '/ip/firewall/address-list';
  const id = await router.rest.add(menu, { list: 'edited', address: '192.0.2.7' });
  await router.rest.add(menu, { list: 'other', address: '192.0.2.9' });
  const lists = await ui.open(menu);
  const other = await lists.edit(lists.row('192.0.2.9'), /other/);
  await expect(other.root).toBeVisible();
  await ui.bringUp('Firewall');
  const dialog = await lists.edit(lists.row('192.0.2.7'), /edited/);
  await dialog.set('Address', '192.0.2.8');
  await dialog.press('Apply');
  await expect(lists.row('192.0.2.8')).toHaveCount(1);
  expect((await router.rest.get(menu, id)).address).toBe('192.0.2.8');
  // A copy has what stands in the form.
  await dialog.set('Address', '192.0.2.77');
  await dialog.press('Copy');
  const copy = new Dialog(ui.page, 'New Firewall Address List');
  await expect(copy.field('Address')).toHaveValue('192.0.2.77');
  await expect(copy.field('Name')).toHaveValue('edited');
  await copy.press('Cancel');
  await copy.closed();
  await dialog.press('Remove');
  await dialog.closed();
  await expect(lists.row('192.0.2.8')).toHaveCount(0);
  await ui.bringUp(/other/);
  await other.press('Remove');
  await other.closed();
  await expect(lists.row()).toHaveCount(0);
});

test('two browsers see each other’s changes', async ({ ui, router, browser }) => {
  const other = await browser.newContext();
  try {
    const second = new Console(await other.newPage(), router.url);
    await second.logIn(PASSWORD);
    const theirs = await second.open('/ip/firewall/address-list');
    const mine = await ui.open('/ip/firewall/address-list');
    const dialog = await mine.add('Firewall Address List');
    await dialog.set('Name', 'seen by both');
    await dialog.set('Address', '192.0.2.55');
    await dialog.press('OK');
    await expect(theirs.row('192.0.2.55')).toHaveCount(1);
    await theirs.select(theirs.row('192.0.2.55'));
    await theirs.command('Remove').click();
    await expect(mine.row('192.0.2.55')).toHaveCount(0);
  } finally {
    await other.close();
  }
});

test('what was typed stays when somebody else removes the item, and can be added again', async ({ ui, router }) => {
  const menu = '/ip/firewall/address-list';
  const id = await router.rest.add(menu, { list: 'typed', address: '192.0.2.60', comment: 'as it was' });
  const lists = await ui.open(menu);
  const dialog = await lists.edit(lists.row('192.0.2.60'), /typed/);
  await dialog.set('Address', '192.0.2.61');
  await dialog.root.getByRole('button', { name: 'Copy', exact: true }).focus();
  await router.rest.remove(menu, id);
  await expect(dialog.root.getByRole('alert')).toHaveText('This item does not exist any more.');
  // The focus was on a button that has gone.
  await expect(dialog.root.getByRole('button', { name: 'Add as New', exact: true })).toBeFocused();
  await expect(dialog.field('Address')).toHaveValue('192.0.2.61');
  await expect(dialog.root.getByRole('button', { name: 'OK', exact: true })).toHaveCount(0);
  await dialog.root.getByRole('button', { name: 'Add as New', exact: true }).click();
  const anew = new Dialog(ui.page, /New Firewall Address List/);
  await expect(anew.field('Address')).toHaveValue('192.0.2.61');
  // The new item's window has the focus; closing it asks before the values are discarded.
  await ui.page.keyboard.press('F4');
  const question = ui.page.getByRole('dialog', { name: /^Discard the changes in New Firewall Address List/ });
  await expect(question).toBeVisible();
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await anew.press('OK');
  await anew.closed();
  await expect(lists.row('192.0.2.61', 'as it was')).toHaveCount(1);
  expect(await router.rest.list(menu)).toMatchObject([{ list: 'typed', address: '192.0.2.61', comment: 'as it was' }]);
  await lists.select(lists.row('192.0.2.61'));
  await lists.command('Remove').click();
});

test('a comment for several items begins with what they have in common', async ({ ui, router }) => {
  const menu = '/ip/firewall/address-list';
  for (const comment of ['one', 'two'])
    await router.rest.add(menu, { list: 'several', address: `192.0.2.${comment === 'one' ? 71 : 72}`, comment });
  const lists = await ui.open(menu);
  await lists.find('several');
  await lists.select(lists.row('several').first());
  await ui.page.keyboard.press('Control+A');
  await lists.command('Comment').click();
  const field = ui.page.getByRole('dialog', { name: 'Comment' }).getByLabel('Comment', { exact: true });
  await expect(field).toHaveValue('');
  await expect(field).toHaveAttribute('placeholder', /different/);
  await ui.page.keyboard.press('Enter');
  expect((await router.rest.list(menu)).map(({ comment }) => comment).sort()).toEqual(['one', 'two']);
  await lists.command('Comment').click();
  await field.fill('both');
  await ui.page.keyboard.press('Enter');
  await expect.poll(async () => (await router.rest.list(menu)).map(({ comment }) => comment)).toEqual(['both', 'both']);
  await lists.command('Comment').click();
  await expect(field).toHaveValue('both');
  await ui.page.keyboard.type('typed over');
  await ui.page.keyboard.press('Enter');
  await expect
    .poll(async () => (await router.rest.list(menu)).map(({ comment }) => comment))
    .toEqual(['typed over', 'typed over']);
  // Several lines stay several, and a row shows them all in its one.
  await lists.command('Comment').click();
  await ui.page.keyboard.type('first');
  await ui.page.keyboard.press('Shift+Enter');
  await ui.page.keyboard.type('second');
  await ui.page.keyboard.press('Enter');
  await expect
    .poll(async () => (await router.rest.list(menu)).map(({ comment }) => comment))
    .toEqual(['first\nsecond', 'first\nsecond']);
  await expect(lists.row('first ↵ second')).toHaveCount(2);
  await lists.command('Comment').click();
  await expect(field).toHaveValue('first\nsecond');
  expect(await accessibilityViolations(ui.page, 'dialog')).toEqual([]);
  await ui.page.keyboard.press('Escape');
  await lists.command('Remove').click();
  await expect(lists.row('several')).toHaveCount(0);
});

test('a comment that was typed is not lost by Escape, nor one of somebody else replaced without a word', async ({
  ui,
  router,
}) => {
  const menu = '/ip/firewall/address-list';
  const id = await router.rest.add(menu, { list: 'typed', address: '192.0.2.75', comment: 'before' });
  const comment = async () => (await router.rest.list(menu)).find((row) => row['.id'] === id)?.comment;
  const lists = await ui.open(menu);
  await lists.select(lists.row('192.0.2.75'));
  const dialog = ui.page.getByRole('dialog', { name: 'Comment' });
  const field = dialog.getByLabel('Comment', { exact: true });
  await ui.page.keyboard.press('Control+m');
  await field.fill('a long one');
  await ui.page.keyboard.press('Escape');
  await expect(dialog.getByRole('alert')).toContainText('not stored');
  await expect(field).toHaveValue('a long one');
  await router.rest.request('PATCH', `/rest${menu}/${id}`, { comment: 'theirs' });
  await expect(dialog.getByRole('status')).toContainText('Somebody has made it theirs meanwhile');
  await ui.page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  expect(await comment()).toBe('theirs');
  await ui.page.keyboard.press('Control+m');
  await expect(field).toHaveValue('theirs');
  await field.fill('another');
  // The browser closes a dialog by itself when Escape is pressed again and again.
  await ui.page.keyboard.press('Escape');
  await field.fill('another one');
  await ui.page.keyboard.press('Escape');
  await expect(dialog).toBeVisible();
  await expect(field).toHaveValue('another one');
  await field.press('Enter');
  await expect(dialog).toBeHidden();
  expect(await comment()).toBe('another one');
  await router.rest.remove(menu, id);
});

test('a comment whose item is gone stays in its window; a drag that is let go outside of the list moves nothing', async ({
  ui,
  router,
}) => {
  const menu = '/ip/firewall/mangle';
  const ids: string[] = [];
  for (const port of [7001, 7002, 7003]) {
    ids.push(
      await router.rest.add(menu, { chain: 'forward', action: 'accept', protocol: 'tcp', 'dst-port': `${port}` }),
    );
  }
  const order = async () => (await router.rest.list(menu)).map((row) => row['dst-port']);
  const mangle = await ui.open(menu);
  const from = await mangle.row('7003').boundingBox();
  const { x, y, width } = await mangle.box();
  if (from === null) throw new Error('the row is not on the screen');
  const { mouse } = ui.page;
  for (const outside of [
    { x: x + width + 20, y: from.y - 60 },
    { x: from.x + 60, y: y - 40 },
  ]) {
    await mouse.move(from.x + 60, from.y + from.height / 2);
    await mouse.down();
    await mouse.move(from.x + 60, from.y - 40, { steps: 4 });
    await mouse.move(outside.x, outside.y, { steps: 4 });
    await mouse.up();
  }
  await mangle.drag(mangle.row('7002'), mangle.row('7001'));
  await expect.poll(order).toEqual(['7002', '7001', '7003']);

  await mangle.row('7001').click({ button: 'right' });
  await ui.page.getByRole('menuitem', { name: 'Insert above' }).click();
  const inserted = new Dialog(ui.page, 'New Mangle Rule');
  await inserted.set('Chain', 'postrouting');
  await router.rest.remove(menu, ids[0] ?? '');
  await inserted.press('OK');
  await expect(inserted.root.getByRole('alert')).toContainText('OK adds it at the end of the list.');
  await inserted.press('OK');
  await inserted.closed();
  await expect.poll(async () => (await router.rest.list(menu)).map(({ chain }) => chain).at(-1)).toBe('postrouting');

  await mangle.select(mangle.row('7003'));
  await mangle.command('Comment').click();
  const comment = ui.page.getByRole('dialog', { name: 'Comment' });
  await comment.getByRole('textbox').fill('not to be lost');
  await router.rest.remove(menu, ids[2] ?? '');
  await expect(mangle.row('7003')).toHaveCount(0);
  await comment.getByRole('button', { name: 'OK' }).click();
  await expect(ui.page.locator('.toasts')).toContainText('What was selected does not exist any more.');
  await expect(comment.getByRole('textbox')).toHaveValue('not to be lost');
  await comment.getByRole('button', { name: 'Cancel' }).click();
});

test('while the list is narrowed, rules go beside the rules that are shown, not behind those that are left out', async ({
  ui,
  router,
}) => {
  const { rest } = router;
  const path = '/ip/firewall/filter';
  const [first] = (await rest.list(path)).filter((row) => row.dynamic === 'false');
  const ids: string[] = [];
  // Each is placed before the rules that are there: a, b, c, …
  for (const [comment, action] of [
    ['web: block', 'drop'],
    ['web: allow one', 'accept'],
    ['everything else', 'accept'],
  ] as const) {
    ids.push(
      await rest.add(path, {
        chain: 'forward',
        'dst-address': '192.0.2.99',
        action,
        comment,
        'place-before': first?.['.id'] ?? '',
      }),
    );
  }
  const order = async () =>
    (await rest.list(path))
      .filter((row) => row.dynamic === 'false')
      .map((row) => row.comment)
      .slice(0, 4);
  try {
    const filter = await ui.open(path);
    await filter.toggleSize();
    await filter.find('web:');
    const block = filter.row('web: block');
    await expect(filter.row()).toHaveCount(2);
    await filter.drag(block, filter.row('web: allow one'), 'lower');
    await expect.poll(order).toMatchObject(['web: allow one', 'web: block', 'everything else', expect.anything()]);

    // By the keyboard up and down again.
    await filter.select(block);
    await ui.page.keyboard.press('Alt+ArrowUp');
    await expect.poll(order).toMatchObject(['web: block', 'web: allow one', 'everything else', expect.anything()]);
    await ui.page.keyboard.press('Alt+ArrowDown');
    await expect.poll(order).toMatchObject(['web: allow one', 'web: block', 'everything else', expect.anything()]);

    await block.click({ button: 'right' });
    await ui.page.getByRole('menuitem', { name: 'Insert below' }).click();
    const dialog = new Dialog(ui.page, 'New Firewall Rule');
    await dialog.set('Chain', 'forward');
    await dialog.set('Dst. Address', '192.0.2.98');
    await dialog.press('OK');
    await dialog.closed();
    await expect.poll(async () => (await order())[3]).toBe('everything else');
    const [, , added] = (await rest.list(path)).filter((row) => row.dynamic === 'false');
    expect(added?.['dst-address']).toBe('192.0.2.98');
    ids.push(added?.['.id'] ?? '');
  } finally {
    for (const id of ids) await rest.remove(path, id);
  }
});

test('a copy of an item that is gone says so', async ({ ui, router }) => {
  await ui.page.goto(`${router.url}/queue/simple/new?copy=*999`);
  await expect(ui.page.locator('.toasts')).toContainText('Copy: the item does not exist any more');
});
