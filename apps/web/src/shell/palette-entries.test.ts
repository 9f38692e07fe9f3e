import { registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { contentOf } from './content.ts';
import { matchingEntries, menuEntries, shortcutEntries } from './palette-entries.ts';

const opened: string[] = [];
const open = (address: string) => opened.push(address);
const entries = menuEntries(open, (menu) => menu.addPermission !== undefined);
const best = (typed: string) => matchingEntries(entries, typed)[0]?.label;

test('every menu is there, and every entry opens something', () => {
  for (const entry of entries) entry.run();
  for (const address of opened) expect(contentOf(address), address).toBeDefined();
  expect(opened).toEqual(expect.arrayContaining(registry.map((menu) => menu.path)));
});

test('a few letters find what they mean', () => {
  expect(best('nat')).toBe('Firewall: NAT');
  expect(best('add address')).toBe('New Address');
  expect(best('route')).toBe('Route List');
  expect(best('ip sett')).toBe('IP Settings');
  expect(best('new interface list')).toBe('New Interface List');
  expect(best('FILTER')).toBe('Firewall: Filter Rules');
  expect(best('dash')).toBe('Dashboard');
  expect(matchingEntries(entries, 'zzz')).toEqual([]);
});

test('a label that was typed in full, with its punctuation, is the first', () => {
  const entry = (label: string) => ({ label, hint: '', words: 'appearance dark light', run: () => {} });
  const themes = ['Theme: system', 'Theme: light', 'Theme: dark'].map(entry);
  for (const { label } of [...themes, ...entries])
    expect(matchingEntries([...themes, ...entries], label)[0]?.label).toBe(label);
  expect(matchingEntries(themes, 'dark')[0]?.label).toBe('Theme: dark');
});

test('new items are offered only to those who may add them', () => {
  const labels = menuEntries(open, () => false).map((entry) => entry.label);
  expect(labels).toContain('Address List');
  expect(labels).not.toContain('New Address');
  expect(labels).not.toContain('Import Subscribers');
  expect(entries.map((entry) => entry.label)).toContain('Import Subscribers');
});

test('what people often want is found by its own words', () => {
  const addresses: string[] = [];
  const all = shortcutEntries(
    (address) => addresses.push(address),
    () => true,
  );
  matchingEntries([...entries, ...all], 'masq')[0]?.run();
  matchingEntries([...entries, ...all], 'port forward')[0]?.run();
  expect(addresses[0]).toBe('/ip/firewall/nat/new?chain=srcnat&out-interface=&action=masquerade');
  expect(addresses[1]).toContain('action=dst-nat');
  expect(addresses.map((address) => contentOf(address)?.title)).toEqual(['New NAT Rule', 'New NAT Rule']);
});

test('without words everything is offered', () => {
  expect(matchingEntries(entries, ' ').length).toBe(entries.length);
});
