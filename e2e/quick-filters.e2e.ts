import { expect } from '@playwright/test';
import { test } from './fixtures.ts';

const FILTER = '/ip/firewall/filter';
const INTERFACE_LISTS = '/interface/list';
const MEMBERS = '/interface/list/member';

test('the quick filter beside Find offers what there is when it is opened, and keeps what it filters by', async ({
  ui,
  router: { rest },
}) => {
  const rules = await ui.open(FILTER);
  const chains = rules.root.getByRole('combobox', { name: 'Chain', exact: true });
  await expect(chains.getByRole('option', { name: 'input', exact: true })).toHaveCount(1);
  const rule = await rest.add(FILTER, { chain: 'guests', action: 'accept', disabled: 'yes' });
  await chains.click();
  await expect(chains.getByRole('option', { name: 'guests', exact: true })).toHaveCount(1);
  await ui.page.keyboard.press('Escape');
  await chains.selectOption('guests');
  await expect(rules.row()).toHaveCount(1);
  await rest.set(FILTER, rule, { chain: 'visitors' });
  await expect(rules.row()).toHaveCount(0);
  await rules.grid.focus();
  await chains.focus();
  await expect(chains.getByRole('option', { name: 'visitors', exact: true })).toHaveCount(1);
  await expect(chains).toHaveValue('guests');
  await chains.selectOption('all chains');
  await expect(chains.getByRole('option', { name: 'guests', exact: true })).toHaveCount(0);
  await rest.remove(FILTER, rule);

  const members = await ui.open(MEMBERS);
  const lists = members.root.getByRole('combobox', { name: 'List', exact: true });
  const names = lists.getByRole('option');
  await expect(names.filter({ hasText: /^all/ })).toHaveText(['all lists', 'all']);
  const list = await rest.add(INTERFACE_LISTS, { name: 'uplinks' });
  await lists.hover();
  await expect(names.filter({ hasText: /^uplinks$/ })).toHaveCount(1);
  await rest.remove(INTERFACE_LISTS, list);
  await members.grid.hover();
  await lists.hover();
  await expect(names.filter({ hasText: /^uplinks$/ })).toHaveCount(0);
});

test('what is known not to be removed is counted instead of asked about', async ({ ui, router: { rest } }) => {
  const type = await rest.add('/queue/type', { name: 'own', kind: 'pfifo' });
  const types = await ui.open('/queue/type');
  await types.select(types.row('own').first());
  await ui.page.keyboard.press('Control+a');
  await ui.page.keyboard.press('Delete');
  await expect(ui.page.locator('.toasts')).toContainText(
    'Remove: 10 of the 11 selected rows always exist and cannot be removed.',
  );
  await expect(ui.page.getByRole('dialog', { name: /^Remove/ })).toHaveCount(0);
  await rest.remove('/queue/type', type);
});

test('of neighbours that were learned no Undo is reported', async ({ ui, router: { rest } }) => {
  const learned = (await rest.list('/ip/arp')).find(({ dynamic }) => dynamic === 'true');
  if (learned === undefined) throw new Error('the lab has no neighbours');
  await rest.add('/ip/arp', {
    address: '192.168.88.253',
    'mac-address': '02:00:00:00:00:99',
    interface: learned.interface ?? '',
  });
  const arp = await ui.open('/ip/arp');
  await arp.select(arp.row('192.168.88.253'));
  await arp
    .row(`${learned.address}`)
    .first()
    .click({ modifiers: ['Control'] });
  await ui.page.keyboard.press('Delete');
  const toasts = ui.page.locator('.toasts');
  await expect(toasts).toContainText(
    'Removed 2 items from ARP List, 1 of them learned, which Undo does not bring back.',
  );
  await toasts.getByRole('button', { name: 'Undo' }).click();
  await expect(toasts).toContainText('Undone: Removed 1 static item from ARP List.');
  await expect(arp.row('192.168.88.253')).toHaveCount(1);
});

test('a field with choices: typing narrows them, keys choose, and any text may be entered', async ({ ui }) => {
  const { page } = ui;
  const rules = await ui.open(FILTER);
  const dialog = await rules.add('Firewall Rule');
  const chain = dialog.root.getByRole('combobox', { name: 'Chain', exact: true });
  const list = page.getByRole('listbox', { name: 'Choices' });
  const active = list.locator('[data-active-item]');
  await chain.fill('');
  await chain.press('Escape');
  await expect(list).toHaveCount(0);
  await expect(dialog.root).toBeVisible();
  // With nothing in it a click asks for the choices; a second Escape is the window's.
  await chain.click();
  await expect(list.getByRole('option')).toHaveText(['input', 'forward', 'output']);
  await expect(active).toHaveCount(0);
  await chain.press('ArrowDown');
  await expect(active).toHaveText('input');
  await chain.press('ArrowUp');
  await expect(active).toHaveText('output');
  await chain.press('Enter');
  await expect(list).toHaveCount(0);
  await expect(chain).toHaveValue('output');
  await expect(dialog.root).toBeVisible();
  // From the choice that the field has.
  await chain.press('ArrowDown');
  await expect(list.getByRole('option')).toHaveCount(3);
  await expect(active).toHaveText('output');
  await chain.press('Escape');
  await expect(list).toHaveCount(0);
  await expect(dialog.root).toBeVisible();
  await chain.fill('fo');
  await expect(list.getByRole('option')).toHaveText(['forward']);
  await chain.fill('forward');
  await expect(list).toHaveCount(0);
  await chain.fill('f');
  await list.getByRole('option', { name: 'forward' }).click();
  await expect(chain).toHaveValue('forward');
  await expect(chain).toBeFocused();
  await expect(list).toHaveCount(0);
  // The list is as wide as its field, and under it.
  await chain.press('ArrowDown');
  const [field, box] = [await chain.boundingBox(), await list.boundingBox()];
  expect(box).toMatchObject({ x: field?.x, width: field?.width, y: (field?.y ?? 0) + (field?.height ?? 0) + 2 });
  await page.keyboard.press('Tab');
  await expect(list).toHaveCount(0);
  // Without a choice Enter is the form's.
  await chain.fill('in');
  await expect(list.getByRole('option')).toHaveText(['input']);
  await chain.press('Enter');
  await dialog.closed();
  await expect(rules.row('accept', 'in').first()).toBeVisible();
  await rules.select(rules.row('accept', 'in').last());
});
