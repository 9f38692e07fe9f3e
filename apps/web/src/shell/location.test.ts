import { menuByPath, registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { formatAddress, parseAddress } from './location.ts';

const isTabAddress = (path: string) => menuByPath(path) !== undefined;
const parse = (address: string) => parseAddress(address, isTabAddress);

test('every menu, item and new item has an address that leads back to it', () => {
  const items = [
    { kind: 'none' },
    { kind: 'id', id: '*1A' },
    { kind: 'new', copy: undefined },
    { kind: 'new', copy: '*1A' },
    { kind: 'new', copy: undefined, before: '*1B' },
    { kind: 'new', copy: undefined, before: undefined, after: '*1B' },
    { kind: 'new', copy: '*1A', before: '*1B' },
    { kind: 'new', copy: undefined, before: undefined, values: { 'dst-port': '', comment: 'a & b=?' } },
  ] as const;
  for (const menu of registry) {
    for (const item of items) {
      expect(parse(formatAddress(menu.path, item)), menu.path).toEqual({ path: menu.path, item });
    }
  }
});

test('a menu below another menu is not an item of it', () => {
  expect(parse('/ip/firewall/connection/tracking').path).toBe('/ip/firewall/connection/tracking');
});

test('encoded ids and trailing slashes are understood; other addresses lead nowhere', () => {
  expect(parse('/ip/address/%2A1/').item).toEqual({ kind: 'id', id: '*1' });
  expect(parse('/ip/address/nonsense').path).toBeUndefined();
  expect(parse('/').path).toBeUndefined();
  expect(parse('/ip/address/%E0%A4').path).toBeUndefined();
});
