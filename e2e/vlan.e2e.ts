import { expect } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';

test('a VLAN is added to a port in its tab, runs, carries an address, and is not removed while it does', async ({
  ui,
  router,
}) => {
  const vlans = await ui.open('/interface/vlan');
  const dialog = await vlans.add('Interface');
  await dialog.set('Name', 'guests');
  await dialog.set('VLAN ID', '5000');
  await dialog.set('Interface', 'ether2');
  await dialog.press('OK');
  await expect(dialog.root.getByRole('alert').first()).toContainText('5000 is out of range');
  await dialog.set('VLAN ID', '10');
  await dialog.press('OK');
  await dialog.closed();
  const row = vlans.row('guests');
  await expect(row).toHaveCount(1);
  expect(await vlans.cell(row, 'VLAN ID')).toBe('10');
  expect(await vlans.cell(row, 'Interface')).toBe('ether2');
  await expect.poll(() => vlans.cell(row, 'Actual MTU')).toBe('1500');
  await expect.poll(async () => (await router.rest.list('/interface/vlan'))[0]?.running).toBe('true');
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);

  const address = await router.rest.add('/ip/address', { address: '10.10.0.1/24', interface: 'guests' });
  await vlans.select(row);
  await vlans.command('Remove').click();
  await expect(ui.page.getByText('in use by /ip/address').first()).toBeVisible();
  await router.rest.remove('/ip/address', address);

  // The list of all interfaces has it with its type.
  const all = await ui.open('/interface');
  expect(await all.cell(all.row('guests'), 'Type')).toBe('vlan');
});
