import { expect } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';

test('an IPv6 address and a route are added in their windows, and neighbours are seen while there is traffic', async ({
  ui,
  router,
}) => {
  const addresses = await ui.open('/ipv6/address');
  const address = await addresses.add('IPv6 Address');
  await address.set('Address', '2001:db8:77::/64');
  await address.set('Interface', 'ether3');
  await address.press('OK');
  await expect(address.root.getByRole('alert').first()).toContainText('subnet-router anycast address');
  await address.set('Address', '2001:db8:77::1/64');
  await address.press('OK');
  await address.closed();
  const row = addresses.row('2001:db8:77::1/64');
  await expect(row).toHaveCount(1);
  expect(await addresses.cell(row, 'Interface')).toBe('ether3');
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);

  const routes = await ui.open('/ipv6/route');
  const route = await routes.add('IPv6 Route');
  await route.set('Dst. Address', '2001:db8:78::/48');
  await route.setList('Gateway', ['fe80::1']);
  await route.press('OK');
  await expect(route.root.getByRole('alert').first()).toContainText('give fe80::1%interface');
  await route.setList('Gateway', ['2001:db8:77::2']);
  await route.press('OK');
  await route.closed();
  const added = routes.row('2001:db8:78::/48');
  await expect(added).toHaveCount(1);
  await expect.poll(() => routes.cell(added, 'Immediate Gateway')).toBe('2001:db8:77::2%ether3');
  await expect(routes.row('2001:db8:77::/64')).toHaveCount(1);

  // The hosts of the lab look for the router, and the router for them.
  const neighbors = await ui.open('/ipv6/neighbor');
  await expect
    .poll(async () => {
      router.host('lan').run('ping', '-6', '-c', '1', '-W', '1', '2001:db8:198::10');
      return neighbors.row('2001:db8:203::1').count();
    })
    .toBe(1);
  const provider = neighbors.row('2001:db8:203::1');
  expect(await neighbors.cell(provider, 'Interface')).toBe('ether1');
  await expect.poll(() => neighbors.cell(provider, 'Status')).toBe('reachable');

  const filter = await ui.open('/ipv6/firewall/filter');
  await expect(filter.row('defconf: drop invalid').first()).toBeVisible();
});
