import { registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { DASHBOARD, groupOf, groups, HISTORY, QUEUE_IMPORT } from './groups.ts';

test('every menu is in one window, and the window knows it', () => {
  const addresses = groups.flatMap((group) => group.pages.map((page) => page.address));
  expect([...addresses].sort()).toEqual(
    [DASHBOARD, HISTORY, QUEUE_IMPORT, ...registry.map((menu) => menu.path)].sort(),
  );
  for (const address of addresses) {
    expect(groupOf(address)?.pages.map((page) => page.address)).toContain(address);
  }
  expect(groupOf('/no/such/menu')).toBeUndefined();
});

test('a window is in the tree, or a button of a window opens it', () => {
  const opened = new Set(
    groups.flatMap((group) => group.pages.flatMap((page) => page.relatedWindows.map((o) => o.address))),
  );
  for (const group of groups) expect(group.tree !== undefined || opened.has(group.key), group.key).toBe(true);
  for (const address of opened) expect(groupOf(address), address).toBeDefined();
});

test('places in the tree and titles tell windows apart', () => {
  const places = groups.flatMap((group) => (group.tree === undefined ? [] : [group.tree.join('/')]));
  expect(new Set(places).size).toBe(places.length);
  const titles = groups.map((group) => group.title);
  expect(new Set(titles).size).toBe(titles.length);
});

test('the firewall is one window with its menus as tabs, in the order that RouterOS has', () => {
  const firewall = groupOf('/ip/firewall/nat');
  expect(firewall?.title).toBe('Firewall');
  expect(firewall?.pages.map((page) => page.label)).toEqual([
    'Filter Rules',
    'NAT',
    'Mangle',
    'Connections',
    'Address Lists',
  ]);
  expect(firewall?.pages[3]?.relatedWindows).toEqual([
    { label: 'Tracking', address: '/ip/firewall/connection/tracking' },
  ]);
});
