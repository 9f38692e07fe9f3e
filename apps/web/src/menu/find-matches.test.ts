import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { tableColumns } from './columns.ts';
import { hiddenMatch, inOneLine, splitAtMatches } from './find-matches.ts';

const connections = menuByPath('/ip/firewall/connection');
const filter = menuByPath('/ip/firewall/filter');
if (connections === undefined || filter === undefined) throw new Error('menus are missing');

test('several lines are shown in one', () => {
  expect(inOneLine('a\nb\r\nc')).toBe('a ↵ b ↵ c');
  expect(inOneLine('a b')).toBe('a b');
});

test('a text is cut at every place of what is looked for, in any case', () => {
  expect(splitAtMatches('defconf: Drop all, drop it', 'drop')).toEqual([
    { text: 'defconf: ', hit: false },
    { text: 'Drop', hit: true },
    { text: ' all, ', hit: false },
    { text: 'drop', hit: true },
    { text: ' it', hit: false },
  ]);
  expect(splitAtMatches('drop', 'drop')).toEqual([{ text: 'drop', hit: true }]);
  expect(splitAtMatches('aaaa', 'aa').filter(({ hit }) => hit)).toHaveLength(2);
  for (const find of ['', 'x']) expect(splitAtMatches('drop', find)).toEqual([{ text: 'drop', hit: false }]);
});

test('a row that shows nothing of it says where it holds it', () => {
  const columns = tableColumns(connections, {});
  const row = { '.id': '*1', 'src-address': '192.168.88.10:40000', 'dst-address': '198.51.100.10:443' };
  const translated = { ...row, 'reply-dst-address': '203.0.113.2:5201' };
  expect(hiddenMatch(connections, columns, translated, '5201')).toBe('Reply Dst. Address: 203.0.113.2:5201');
  expect(hiddenMatch(connections, columns, translated, '88.10')).toBeUndefined();
  expect(hiddenMatch(connections, columns, row, '5201')).toBeUndefined();
  expect(hiddenMatch(connections, columns, translated, '')).toBeUndefined();
});

test('a comment above the row can be seen; without the line it is reported', () => {
  const rule = { '.id': '*1', chain: 'input', action: 'drop', comment: 'Nobody from outside' };
  expect(hiddenMatch(filter, tableColumns(filter, {}), rule, 'nobody')).toBeUndefined();
  const inline = tableColumns(filter, { columns: ['action', 'comment'], kept: ['comment'] });
  expect(hiddenMatch(filter, inline, rule, 'nobody')).toBeUndefined();
  const route = menuByPath('/ip/route');
  if (route === undefined) throw new Error('menus are missing');
  const columns = tableColumns(route, { columns: ['dst-address'] });
  expect(hiddenMatch(route, columns, { ...rule, 'dst-address': '10.0.0.0/8' }, 'nobody')).toBe(
    'Comment: Nobody from outside',
  );
});
