import { registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { hasCommentLines, moveColumn, possibleColumns, shownColumns, tableColumns, toggleColumn } from './columns.ts';

const filter = registry.find((menu) => menu.path === '/ip/firewall/filter');
const route = registry.find((menu) => menu.path === '/ip/route');
if (filter === undefined || route === undefined) throw new Error('menus are missing');

test('ordered menus start with flags and number', () => {
  expect(
    tableColumns(filter, {})
      .map((column) => column.name)
      .slice(0, 3),
  ).toEqual(['.flags', '.nr', 'action']);
  expect(
    tableColumns(route, {})
      .map((column) => column.name)
      .slice(0, 2),
  ).toEqual(['.flags', 'dst-address']);
});

test('a comment is a line or a column, never both', () => {
  expect(hasCommentLines(filter)).toBe(true);
  expect(possibleColumns(filter)).not.toContain('comment');
  expect(hasCommentLines(route)).toBe(false);
  expect(possibleColumns(route)).toContain('comment');
});

test('a column is added, taken away, and the last one stays', () => {
  const more = toggleColumn(filter, {}, 'log-prefix');
  expect(shownColumns(filter, more)).toContain('log-prefix');
  expect(shownColumns(filter, toggleColumn(filter, more, 'log-prefix'))).toEqual(filter.columns);
  expect(toggleColumn(filter, { columns: ['chain'] }, 'chain')).toEqual({ columns: ['chain'] });
});

test('a column moves before another one or to the end', () => {
  const layout = { columns: ['chain', 'action', 'bytes'] };
  expect(moveColumn(filter, layout, 'bytes', 'chain').columns).toEqual(['bytes', 'chain', 'action']);
  expect(moveColumn(filter, layout, 'chain', undefined).columns).toEqual(['action', 'bytes', 'chain']);
  expect(moveColumn(filter, layout, 'chain', 'chain').columns).toEqual(['chain', 'action', 'bytes']);
  expect(moveColumn(filter, layout, '.nr', 'chain')).toBe(layout);
});

test('pairs are columns by their halves', () => {
  const queues = registry.find((menu) => menu.path === '/queue/simple');
  if (queues === undefined) throw new Error('menus are missing');
  const columns = tableColumns(queues, {});
  expect(columns.find((column) => column.name === 'max-limit.upload')).toMatchObject({
    label: 'Upload Max Limit',
    right: true,
  });
  expect(possibleColumns(queues)).toContain('queue.download');
  expect(possibleColumns(queues)).not.toContain('queue');
});

test('a remembered column that no longer exists is left out', () => {
  expect(shownColumns(filter, { columns: ['chain', 'was-here-once'] })).toEqual(['chain']);
  expect(shownColumns(filter, { columns: ['was-here-once'] })).toEqual(filter.columns);
});

test('every column of every menu can be shown', () => {
  for (const menu of registry) {
    if (menu.columns.length === 0) continue;
    expect(shownColumns(menu, {}), menu.path).toEqual(menu.columns);
  }
});
