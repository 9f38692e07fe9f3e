import { expect } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';

/** What is typed, and what the dialog says of it, one after the other; the last values are accepted. */
const FAMILIES = [
  {
    menu: '/ip/route',
    singular: 'Route',
    wrongDestination: '192.0.2.5/24',
    destination: '192.0.2.0/24',
    wrong: [
      [['203.0.113.300'], 'is not an IPv4 address'],
      [['203.0.113.1', '224.0.0.1'], '224.0.0.1 is a multicast address'],
    ],
    gateways: ['203.0.113.1', '192.168.88.254'],
    by: '203.0.113.1%ether1,192.168.88.254%ether2',
  },
  {
    menu: '/ipv6/route',
    singular: 'IPv6 Route',
    wrongDestination: '2001:db8:2b::5/48',
    destination: '2001:db8:2b::/48',
    wrong: [
      [['2001:db8:::1'], 'is not an IPv6 address'],
      [['2001:db8:203::1', 'fe80::1'], 'give fe80::1%interface'],
    ],
    gateways: ['2001:db8:203::1', 'fe80::1%ether2'],
    by: '2001:db8:203::1%ether1,fe80::1%ether2',
  },
] as const;

for (const { menu, singular, wrongDestination, destination, wrong, gateways, by } of FAMILIES) {
  test(`${menu}: a route with several gateways is added, and what is wrong is refused by name`, async ({ ui }) => {
    const routes = await ui.open(menu);
    const route = await routes.add(singular);
    const says = (text: string) => expect(route.root.getByRole('alert').first()).toContainText(text);
    await route.set('Dst. Address', wrongDestination);
    await route.setList('Gateway', gateways);
    await route.press('OK');
    await says(`has host bits beyond its length; give ${destination}`);
    await route.set('Dst. Address', destination);
    for (const [values, text] of wrong) {
      await route.setList('Gateway', values);
      await route.press('OK');
      await says(text);
    }
    await route.setList('Gateway', gateways);
    await route.press('OK');
    await route.closed();
    const row = routes.row(destination);
    await expect(row).toHaveCount(1);
    expect(await routes.cell(row, 'Gateway')).toBe(gateways.join(','));
    await expect.poll(() => routes.cell(row, 'Immediate Gateway')).toBe(by);
    await expect.poll(() => routes.cell(row, 'Flags')).toContain('+');
    expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);
  });
}
