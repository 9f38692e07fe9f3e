import { expect } from '@playwright/test';
import { test } from './stack.ts';

const FILTER = '/ip/firewall/filter';
const INTERFACE_LISTS = '/interface/list';
const MEMBERS = '/interface/list/member';

test('the chooser beside Find offers what there is when it is opened, and keeps what it filters by', async ({
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

test('of neighbours that were learned no Undo is told of', async ({ ui, router: { rest } }) => {
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
