import { type Menu, menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { acknowledgedBy, isOutdated, typedSince, withAcknowledged, withSentValues } from './form-response.ts';

function menu(path: string): Menu {
  const found = menuByPath(path);
  if (found === undefined) throw new Error(`no menu ${path}`);
  return found;
}

const lists = menu('/ip/firewall/address-list');
const entry = { '.id': '*1', list: 'z300', address: '10.2.1.4', comment: 'old' };

test('what was typed since is an edit against the item as it is now; what is as answered is none', () => {
  const typed = new Map<string, string | undefined>([
    ['address', '10.2.1.455'],
    ['list', 'z300'],
    ['comment', undefined],
  ]);
  expect(typedSince(lists, entry, typed)).toEqual({ address: '10.2.1.455', comment: null });
  // Typed back to what it was before the request: that is another value than the one that was stored.
  const stored = { ...entry, address: '10.2.1.5' };
  expect(typedSince(lists, stored, new Map([['address', '10.2.1.4']]))).toEqual({ address: '10.2.1.4' });
  expect(typedSince(lists, entry, new Map())).toEqual({});
});

test('without an answer an item is what was sent', () => {
  expect(withSentValues(entry, { list: 'z301', '!comment': '' })).toEqual({
    '.id': '*1',
    list: 'z301',
    address: '10.2.1.4',
  });
});

test('an answer counts until the news of the item know of the change, or of another one', () => {
  const { comment: _, ...rest } = entry;
  const answer = { ...rest, address: '10.2.1.5', 'creation-time': 'now' };
  const acknowledged = acknowledgedBy(lists, entry, answer, { address: '10.2.1.5', '!comment': '', list: 'z300' });
  expect(acknowledged).toEqual({
    before: { address: '10.2.1.4', comment: 'old' },
    after: { address: '10.2.1.5', comment: undefined },
  });
  if (acknowledged === undefined) return;
  expect(withAcknowledged({ ...entry, bytes: '7' }, acknowledged)).toEqual({
    ...rest,
    address: '10.2.1.5',
    bytes: '7',
  });
  for (const address of ['10.2.1.5', '10.9.9.9']) {
    const news = { ...rest, address };
    expect(isOutdated(news, acknowledged)).toBe(false);
    expect(withAcknowledged(news, acknowledged)).toBe(news);
  }
});

test('an answer that tells nothing new, or only a secret, tells nothing', () => {
  expect(acknowledgedBy(lists, entry, entry, { list: 'z300' })).toBeUndefined();
  const users = menu('/user');
  expect(
    acknowledgedBy(users, { name: 'bob' }, { name: 'bob', password: 'secret' }, { password: 'secret' }),
  ).toBeUndefined();
});
