import { type Command, menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { actsOnAll, commandLabel, rowsBlockedReason, specialCommands } from './actions.ts';
import { items, lockedReason, removalLockedReason } from './item.ts';
import { footerText } from './TableFooter.tsx';
import { disabledReason } from './table-commands.ts';
import { commandFor, HELD, rowFor, windowCommandFor } from './table-keys.ts';

const filter = menuByPath('/ip/firewall/filter');
const connections = menuByPath('/ip/firewall/connection');
const lists = menuByPath('/interface/list');
if (filter === undefined || connections === undefined || lists === undefined) throw new Error('menus are missing');

test('commands of the window alone have buttons with names', () => {
  expect(specialCommands(filter).map(commandLabel)).toEqual(['Reset Counters', 'Reset All Counters']);
  expect(actsOnAll(filter, 'reset-counters-all')).toBe(true);
  expect(actsOnAll(filter, 'reset-counters')).toBe(false);
});

test('why a command cannot run', () => {
  expect(rowsBlockedReason(filter, 'remove', [], 0)).toBe('select a row first');
  expect(rowsBlockedReason(filter, 'remove', [{ '.id': '*1' }], 1)).toBeUndefined();
  expect(rowsBlockedReason(filter, 'remove', [{ '.id': '*1', dynamic: 'true' }], 1)).toMatch(/copy/);
  // Entries with a timeout are the data plane's, and can be taken away, though not changed.
  const entries = menuByPath('/ip/firewall/address-list');
  if (entries === undefined) throw new Error('the menu is missing');
  expect(rowsBlockedReason(entries, 'remove', [{ '.id': '*80000001', dynamic: 'true' }], 1)).toBeUndefined();
  expect(rowsBlockedReason(entries, 'disable', [{ '.id': '*80000001', dynamic: 'true' }], 1)).toMatch(/copy/);
  expect(rowsBlockedReason(filter, 'reset-counters', [{ '.id': '*1' }], 1)).toBeUndefined();
  expect(rowsBlockedReason(filter, 'reset-counters', [{ '.id': '*1', dynamic: 'true' }], 1)).toMatch(/dynamic/);
  expect(rowsBlockedReason(connections, 'remove', [{ '.id': '*1' }], 1)).toBeUndefined();
  expect(rowsBlockedReason(lists, 'remove', [{ '.id': '*2000000', builtin: 'true' }], 1)).toMatch(/always exists/);
});

test('of several rows it is said how many are in the way, and of what kind', () => {
  const some = (count: number, values: object) =>
    Array.from({ length: count }, (_, at) => ({ '.id': `*${at + 1}`, ...values }));
  const dynamic = { dynamic: 'true' };
  const rows = [...some(4, dynamic), ...some(4, {})];
  expect(rowsBlockedReason(filter, 'disable', rows, 8)).toBe(
    '4 of the 8 selected rows are dynamic and cannot be changed',
  );
  expect(rowsBlockedReason(filter, 'remove', rows.slice(3), 5)).toBe(
    '1 of the 5 selected rows is dynamic and cannot be removed',
  );
  expect(rowsBlockedReason(filter, 'remove', rows.slice(0, 3), 3)).toBe(
    'all 3 selected rows are dynamic and cannot be removed',
  );
  expect(rowsBlockedReason(filter, 'remove', rows.slice(0, 2), 2)).toBe(
    'both selected rows are dynamic and cannot be removed',
  );
  expect(rowsBlockedReason(filter, 'remove', rows, 2000)).toMatch(/^at least 4 of the 2 000 selected rows are dynamic/);
  expect(rowsBlockedReason(filter, 'reset-counters', rows, 8)).toMatch(
    /^4 of the 8 selected rows are dynamic, and Reset Counters does not apply/,
  );
  expect(rowsBlockedReason(filter, 'remove', rows.slice(4), 4)).toBeUndefined();
  const mixed = [{ '.id': '*2000000', builtin: 'true' }, { '.id': '*2000001', builtin: 'true' }, ...rows.slice(3)];
  expect(rowsBlockedReason(lists, 'remove', mixed, 7)).toBe(
    '3 of the 7 selected rows always exist or are dynamic and cannot be removed',
  );
});

test('queue types that always exist can be changed, but not removed', () => {
  const types = menuByPath('/queue/type');
  if (types === undefined) throw new Error('the menu is missing');
  const usual = (types.builtin ?? []).map(({ id, values }) => ({
    ...values,
    '.id': `*${id.toString(16).toUpperCase()}`,
  }));
  const [first] = usual;
  if (first === undefined) throw new Error('there are none');
  expect(lockedReason(types, first)).toBeUndefined();
  expect(removalLockedReason(types, first)).toBe('this item always exists and cannot be removed');
  expect(rowsBlockedReason(types, 'remove', [...usual, { '.id': '*1', name: 'own' }], 11)).toBe(
    '10 of the 11 selected rows always exist and cannot be removed',
  );
  expect(removalLockedReason(types, { '.id': '*1', name: 'own' })).toBeUndefined();
});

test('rows are not moved by halves, when others that are selected are not loaded', () => {
  const why = (count: number) =>
    disabledReason({ menu: filter, rows: [{ '.id': '*1' }], count, ordered: true }, 'move-up');
  expect(why(1)).toBeUndefined();
  expect(why(2)).toMatch(/out of sight/);
});

test('folding is for a tree that shows all of its rows', () => {
  const queues = menuByPath('/queue/simple');
  if (queues === undefined) throw new Error('the menu is missing');
  const why = (part: object) =>
    disabledReason({ menu: queues, rows: [], count: 0, ordered: true, tree: true, ...part }, 'fold-all');
  expect(why({})).toBeUndefined();
  expect(why({ tree: false })).toBe('show the tree first');
  expect(why({ filtered: true })).toMatch(/nothing is folded/);
});

test('the footer counts as RouterOS does', () => {
  expect(footerText(1, 1, 0)).toBe('1 item');
  expect(footerText(16, 17, 1)).toBe('16 items out of 17 (1 selected)');
  expect(footerText(100000, 100000, 0)).toBe('100 000 items');
  expect(items(1)).toBe('1 item');
  expect(items(1984)).toBe('1 984 items');
});

test('keys stand for commands', () => {
  const key = (part: object) =>
    commandFor({ key: '', code: '', ctrlKey: false, metaKey: false, altKey: false, ...part });
  expect(key({ key: 'Delete' })).toBe('remove');
  expect(key({ key: 'Insert' })).toBe('add');
  expect(key({ key: 'e', ctrlKey: true })).toBe('enable');
  expect(key({ key: 'D', ctrlKey: true })).toBe('disable');
  expect(key({ key: 'ArrowUp', altKey: true })).toBe('move-up');
  expect(key({ key: 'ArrowUp' })).toBeUndefined();
  expect(key({ key: '-', code: 'NumpadSubtract' })).toBe('disable');
  expect(key({ key: 'f', ctrlKey: true })).toBeUndefined();
});

test('a key that is held does its command once; only moves go on', () => {
  const held = (part: object) =>
    commandFor({ key: '', code: '', ctrlKey: false, metaKey: false, altKey: false, repeat: true, ...part });
  expect(held({ key: 'Delete' })).toBe(HELD);
  expect(held({ key: 'Insert' })).toBe(HELD);
  expect(held({ key: 'Enter' })).toBe(HELD);
  expect(held({ key: 'ArrowDown', altKey: true })).toBe('move-down');
  // Keys that only move the focus are no commands.
  expect(held({ key: 'ArrowDown' })).toBeUndefined();
});

test('Insert adds wherever the focus is in the window', () => {
  const press = (key: string) => windowCommandFor({ key, code: '', ctrlKey: false, metaKey: false, altKey: false });
  expect([press('Insert'), press('F3'), press('Delete')]).toEqual(['add', 'find-next', undefined]);
});

test('keys go to rows, from a title of the header too', () => {
  const press = (key: string, onTitle: boolean, part: object = {}) =>
    rowFor({ key, ctrlKey: false, metaKey: false, altKey: false, ...part }, onTitle, 20, (rows) => 100 + rows);
  for (const onTitle of [false, true]) {
    const to = ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home'].map((key) => press(key, onTitle));
    expect(to).toEqual([101, 99, 120, 80, 0]);
    expect(press('End', onTitle)).toBeGreaterThan(100_000);
    expect(press('ArrowLeft', onTitle)).toBeUndefined();
    expect(press('ArrowUp', onTitle, { altKey: true })).toBeUndefined();
  }
  expect(press('End', true, { ctrlKey: true })).toBeUndefined();
});

test('a command for rows that the system made is offered on them', () => {
  const makeStatic: Command = {
    name: 'make-static',
    help: 'Stores what was learned.',
    target: 'selection',
    args: {},
    effect: 'change',
    result: 'nothing',
    permission: 'write',
    dynamicRows: true,
    button: true,
  };
  const arp = { ...filter, commands: new Map([...filter.commands, ['make-static', makeStatic]]) };
  const learned = [{ '.id': '*80000001', dynamic: 'true' }];
  expect(specialCommands(arp)).toContain('make-static');
  expect(rowsBlockedReason(arp, 'make-static', learned, 1)).toBeUndefined();
  expect(rowsBlockedReason(arp, 'disable', learned, 1)).toMatch(/dynamic/);
});
