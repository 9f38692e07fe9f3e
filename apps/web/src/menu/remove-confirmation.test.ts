import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { confirmationIds, disableConfirmation, lostAmong, removeConfirmation } from './remove-confirmation.ts';

const simple = menuByPath('/queue/simple');
const filter = menuByPath('/ip/firewall/filter');
if (simple === undefined || filter === undefined) throw new Error('menus are missing');

const rows = (count: number) => Array.from({ length: count }, (_, at) => ({ '.id': `*${at}`, name: `user${at}` }));
const removal = (count: number, part: object = {}) => ({
  ids: rows(count).map((row) => row['.id']),
  rows: rows(Math.min(count, 100)),
  filtered: false,
  matched: 504,
  total: 504,
  user: undefined,
  ...part,
});

test('nine rows that are seen go without a confirmation, ten do not', () => {
  expect(removeConfirmation(simple, removal(9))).toBeUndefined();
  expect(removeConfirmation(simple, removal(10))).toMatchObject({
    title: 'Remove 10 items from Simple Queues?',
    names: 'user0, user1, user2, user3, user4 and 5 more.',
    filtered: '',
  });
});

test('what does not come back is asked for, be it one', () => {
  const users = menuByPath('/user');
  if (users === undefined) throw new Error('the menu is missing');
  expect(removeConfirmation(users, removal(1, { matched: 3, total: 3 }))).toMatchObject({
    title: 'Remove 1 item from Users?',
    names: 'user0.',
    final: 'This cannot be undone.',
  });
  expect(removeConfirmation(simple, removal(10))?.final).toBe('');
});

test('with Find it says what stays and what is hidden', () => {
  const found = removeConfirmation(simple, removal(502, { filtered: true, matched: 502 }));
  expect(found?.filtered).toBe(
    'Find or the filter shows 502 of 504 items. All selected items are among those shown; hidden ones stay.',
  );
});

test('rows without a name go by their comment, or by what they say first', () => {
  const some = [
    { '.id': '*1', comment: 'drop all' },
    { '.id': '*2', chain: 'forward', action: 'accept' },
  ];
  const { names } = removeConfirmation(filter, removal(10, { rows: some })) ?? {};
  expect(names).toBe('"drop all", forward accept and 8 more.');
});

test('users are asked before they disable or remove themselves', () => {
  const users = menuByPath('/user');
  if (users === undefined) throw new Error('the menu is missing');
  const said = 'You are logged in as user1: this logs you out.';
  expect(disableConfirmation(users, ['*0', '*1'], rows(2), 'user1')).toMatchObject({
    command: 'disable',
    title: 'Disable 2 items?',
    names: 'user0, user1.',
    self: said,
  });
  expect(disableConfirmation(users, ['*0', '*1'], rows(2), 'user2')).toBeUndefined();
  expect(disableConfirmation(simple, ['*0', '*1'], rows(2), 'user1')).toBeUndefined();
  expect(removeConfirmation(users, removal(2, { user: 'user1' }))?.self).toBe(said);
  expect(removeConfirmation(users, removal(2, { user: 'user2' }))?.self).toBe('');
});

test('a confirmation is about rows whether or not they are loaded: the first ones, and all users, one of whom may be asked', () => {
  const users = menuByPath('/user');
  if (users === undefined) throw new Error('the menu is missing');
  const { ids } = removal(12);
  expect(confirmationIds(users, 'disable', ids)).toEqual(ids);
  expect(confirmationIds(users, 'remove', ids)).toEqual(ids);
  expect(confirmationIds(simple, 'remove', ids)).toEqual(ids.slice(0, 5));
  expect(confirmationIds(simple, 'remove', ids.slice(0, 9))).toEqual([]);
  expect(confirmationIds(simple, 'disable', ids)).toEqual([]);
});

test('of entries with a timeout, which no Undo brings back, be it one, is asked before they go', () => {
  const lists = menuByPath('/ip/firewall/address-list');
  const arp = menuByPath('/ip/arp');
  if (lists === undefined || arp === undefined) throw new Error('menus are missing');
  const entries = (dynamic: readonly boolean[]) => ({
    ids: dynamic.map((_, at) => `*${at}`),
    rows: dynamic.map((is, at) => ({ '.id': `*${at}`, list: 'l', dynamic: String(is) })),
  });
  expect(removeConfirmation(lists, removal(3, entries([false, false])))).toBeUndefined();
  expect(removeConfirmation(lists, removal(3, entries([false, true, true])))).toMatchObject({
    final: 'Undo does not bring back 2 of them, which are dynamic.',
    lost: ['*1', '*2'],
  });
  expect(removeConfirmation(lists, removal(1, entries([true])))?.final).toBe('This cannot be undone.');
  // The router learns those anew: they need no confirmation, but are reported.
  expect(removeConfirmation(arp, removal(1, entries([true])))).toBeUndefined();
  const { ids, rows: neighbours } = entries([false, true]);
  expect(removeConfirmation(arp, removal(2, { ids, rows: neighbours }))).toBeUndefined();
  expect(confirmationIds(arp, 'remove', ids)).toEqual(ids);
  expect(lostAmong(arp, ids, neighbours)).toEqual(['*1']);
  const many = entries([true, ...Array<boolean>(9).fill(false)]);
  expect(removeConfirmation(arp, removal(10, many))?.final).toBe(
    'Undo does not bring back 1 of them, which is learned.',
  );
  expect(confirmationIds(lists, 'remove', ['*1', '*2'])).toEqual(['*1', '*2']);
  expect(confirmationIds(lists, 'disable', ['*1', '*2'])).toEqual([]);
});
