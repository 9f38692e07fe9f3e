import { registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { DASHBOARD, HISTORY, QUEUE_IMPORT } from './define-windows.ts';
import { definitionOf, windowDefinitions } from './window-definitions.ts';

test('every menu is in one window, and the window knows it', () => {
  const addresses = windowDefinitions.flatMap((definition) => definition.tabs.map((tab) => tab.address));
  expect([...addresses].sort()).toEqual(
    [DASHBOARD, HISTORY, QUEUE_IMPORT, ...registry.map((menu) => menu.path)].sort(),
  );
  for (const address of addresses) {
    expect(definitionOf(address)?.tabs.map((tab) => tab.address)).toContain(address);
  }
  expect(definitionOf('/no/such/menu')).toBeUndefined();
});

test('a window is in the tree, or a button of a window opens it', () => {
  const opened = new Set(
    windowDefinitions.flatMap((definition) =>
      definition.tabs.flatMap((tab) => tab.relatedWindows.map((o) => o.address)),
    ),
  );
  for (const definition of windowDefinitions)
    expect(definition.tree !== undefined || opened.has(definition.key), definition.key).toBe(true);
  for (const address of opened) expect(definitionOf(address), address).toBeDefined();
});

test('places in the tree and titles tell windows apart', () => {
  const places = windowDefinitions.flatMap((definition) =>
    definition.tree === undefined ? [] : [definition.tree.join('/')],
  );
  expect(new Set(places).size).toBe(places.length);
  const titles = windowDefinitions.map((definition) => definition.title);
  expect(new Set(titles).size).toBe(titles.length);
});

test('the firewall is one window with its menus as tabs, in the order that RouterOS has', () => {
  const firewall = definitionOf('/ip/firewall/nat');
  expect(firewall?.title).toBe('Firewall');
  expect(firewall?.tabs.map((tab) => tab.label)).toEqual([
    'Filter Rules',
    'NAT',
    'Mangle',
    'Connections',
    'Address Lists',
  ]);
  expect(firewall?.tabs[3]?.relatedWindows).toEqual([
    { label: 'Tracking', address: '/ip/firewall/connection/tracking' },
  ]);
});
