import { expect } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';

test('a VRF takes an interface, its table takes routes, and it is not removed while it has some', async ({
  ui,
  router,
}) => {
  const vlan = { name: 'customer', 'vlan-id': '20', interface: 'ether2' };
  await router.rest.add('/interface/vlan', vlan);
  const vrfs = await ui.open('/ip/vrf');
  await expect(vrfs.row('main')).toHaveCount(1);
  const dialog = await vrfs.add('VRF');
  await dialog.set('Name', 'blue');
  await dialog.set('Interfaces 1', 'nothing');
  await dialog.press('OK');
  await expect(dialog.root.getByRole('alert').first()).toContainText('nothing is none of');
  await dialog.set('Interfaces 1', 'customer');
  await dialog.press('OK');
  await dialog.closed();
  const row = vrfs.row('blue');
  await expect(row).toHaveCount(1);
  expect(await vrfs.cell(row, 'Interfaces')).toBe('customer');
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);

  // Its table is there, made by the system.
  const tables = await ui.open('/routing/table');
  await expect(tables.row('blue')).toHaveCount(1);
  const route = await router.rest.add('/ip/route', { gateway: 'ether2@main', 'routing-table': 'blue' });
  await ui.open('/ip/vrf');
  await vrfs.select(row);
  await vrfs.command('Remove').click();
  await expect(ui.page.getByText('in use by /ip/route').first()).toBeVisible();
  await router.rest.remove('/ip/route', route);
  await vrfs.select(row);
  await vrfs.command('Remove').click();
  await expect(row).toHaveCount(0);
});
