import { expect, test } from 'vitest';
import { windowDefinitions } from '../windows/window-definitions.ts';
import { contentOf, isRestorable } from './content.ts';

test('every tab of every window has an address that opens that window', () => {
  for (const definition of windowDefinitions) {
    for (const tab of definition.tabs) {
      expect(contentOf(tab.address), tab.address).toMatchObject({
        address: tab.address,
        key: definition.key,
        role: 'region',
        title: definition.title,
      });
    }
  }
});

test('items are dialogs, each with a window of its own that opens where the last of its kind was', () => {
  const one = contentOf('/ip/firewall/filter/*1');
  const two = contentOf('/ip/firewall/filter/*2/');
  expect(one).toMatchObject({ role: 'dialog', title: 'Firewall Rule', address: '/ip/firewall/filter/*1' });
  expect(two?.address).toBe('/ip/firewall/filter/*2');
  expect(two?.key).not.toBe(one?.key);
  expect(two?.place).toBe(one?.place);
  expect(contentOf('/ip/firewall/filter/new?copy=*1')).toMatchObject({ title: 'New Firewall Rule' });
});

test('what does not exist has no window', () => {
  for (const address of ['/', '/no/such', '/ip/settings/*1', '/ip/firewall/connection/new', '/dashboard/*1', '']) {
    expect(contentOf(address), address).toBeUndefined();
  }
});

test('an item that was never added is not opened again', () => {
  expect(isRestorable('/ip/address')).toBe(true);
  expect(isRestorable('/ip/address/*1')).toBe(true);
  expect(isRestorable('/ip/address/new')).toBe(false);
});
