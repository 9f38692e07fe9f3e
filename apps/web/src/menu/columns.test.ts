import { registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import type { Row } from '../api/row.ts';
import {
  filledColumns,
  hasCommentLines,
  moveColumn,
  possibleColumns,
  shownColumns,
  tableColumns,
  toggleColumn,
  WIDEST,
} from './columns.ts';
import { grownWidths, tracks } from './content-widths.ts';
import { FilledColumns, TableFilledColumns } from './filled-columns.ts';
import { FOLDED } from './tree.ts';

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
  expect(hasCommentLines(filter, tableColumns(filter, {}))).toBe(true);
  expect(hasCommentLines(route, tableColumns(route, {}))).toBe(false);
  expect(hasCommentLines(route, [])).toBe(false);
  const inline = toggleColumn(filter, {}, 'comment');
  expect(hasCommentLines(filter, tableColumns(filter, inline))).toBe(false);
  // The counters stay at the end, where they are pinned.
  expect(shownColumns(filter, inline).slice(-3)).toEqual(['comment', 'bytes', 'packets']);
  expect(shownColumns(filter, toggleColumn(filter, inline, 'comment'))).toEqual(filter.columns);
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

test('a column without values takes no room unless it was chosen by hand', () => {
  const filled = new FilledColumns(filter);
  expect(filled.empty(filter.columns).size).toBe(0);
  const rows: readonly Row[] = [
    { '.id': '*1', action: 'accept', chain: 'input', 'connection-state': 'established', bytes: '0', packets: '0' },
    { '.id': '*2', action: 'drop', chain: 'input', 'src-address': '', bytes: '0', packets: '0' },
  ];
  expect(filled.observe(rows, filter.columns)).toBe(true);
  expect(filled.observe(rows, filter.columns)).toBe(false);
  const findings = { empty: filled.empty(filter.columns) };
  const seen = ['action', 'chain', 'connection-state', 'bytes', 'packets'];
  expect(filledColumns(filter, {}, findings)).toEqual(seen);
  expect(tableColumns(filter, {}, false, findings).map(({ name }) => name)).toEqual(['.flags', '.nr', ...seen]);

  // A tick shows it; another one takes it away.
  const kept = toggleColumn(filter, {}, 'src-address', findings);
  expect(filledColumns(filter, kept, findings)).toContain('src-address');
  expect(filledColumns(filter, toggleColumn(filter, kept, 'src-address', findings), findings)).toEqual(seen);
  // A tick also shows a column that is not among the menu's default ones.
  const more = toggleColumn(filter, {}, 'log-prefix', { empty: new Set([...findings.empty, 'log-prefix']) });
  expect(filledColumns(filter, more, { empty: new Set(['log-prefix']) })).toContain('log-prefix');

  // A row with a value brings its column.
  expect(filled.observe([{ '.id': '*3', 'dst-port': '5201' }], filter.columns)).toBe(true);
  expect(filledColumns(filter, {}, { empty: filled.empty(filter.columns) })).toContain('dst-port');
});

test('a column that only rows of a filter have values for goes with the filter', () => {
  const known = new FilledColumns(filter);
  const table = new TableFilledColumns(filter, known);
  const names = ['action', 'chain', 'src-port', 'dst-port'];
  const everything = { filter: {}, find: '' };
  const rule: Row = { '.id': '*1', action: 'accept', chain: 'input' };
  const seen = () => names.filter((name) => !table.empty(names).has(name));
  // A window that opens with a filter shows the columns of its rows alone.
  const forward = { filter: { chain: 'forward' }, find: '' };
  table.observe([{ ...rule, chain: 'forward', 'dst-port': '80' }], names, forward, { matched: 1, total: 200 });
  expect(seen()).toEqual(['action', 'chain', 'dst-port']);
  table.observe([rule], names, everything, { matched: 200, total: 200 });
  expect(seen()).toEqual(['action', 'chain']);

  const found = { filter: {}, find: '5' };
  table.observe([{ ...rule, 'src-port': '5201' }], names, found, { matched: 1, total: 200 });
  expect(seen()).toEqual(['action', 'chain', 'src-port']);
  // Typing on does not make columns come and go.
  table.observe([rule], names, { ...found, find: '52' }, { matched: 1, total: 200 });
  expect(seen()).toContain('src-port');
  expect(table.observe([], names, forward, { matched: 0, total: 200 })).toBe(true);
  expect(seen()).toEqual(['action', 'chain']);

  // Columns that were filled without a filter stay, also in another window and under a filter.
  table.observe([{ ...rule, 'dst-port': '443' }], names, everything, { matched: 200, total: 200 });
  table.observe([rule], names, forward, { matched: 1, total: 200 });
  expect(seen()).toContain('dst-port');
  expect(known.empty(names)).toEqual(new Set(['src-port']));
});

test('a tree is looked at as a whole, although rows of it are folded away', () => {
  const known = new FilledColumns(filter);
  const table = new TableFilledColumns(filter, known);
  const folded = { filter: {}, find: '', tree: FOLDED };
  table.observe([{ '.id': '*1', 'src-port': '1' }], ['action', 'src-port'], folded, { matched: 1, total: 3 });
  table.observe([{ '.id': '*1' }], ['action', 'src-port'], { ...folded, find: 'x' }, { matched: 1, total: 3 });
  expect(table.empty(['action', 'src-port'])).toEqual(new Set(['action']));
});

test('half of a pair has a value when the pair has one', () => {
  const queues = registry.find((menu) => menu.path === '/queue/simple');
  if (queues === undefined) throw new Error('menus are missing');
  const filled = new FilledColumns(queues);
  filled.observe([{ '.id': '*1', name: 'a', 'max-limit': '0/0', 'packet-marks': '' }], queues.columns);
  const empty = filled.empty(queues.columns);
  expect(empty.has('max-limit.download')).toBe(false);
  expect([empty.has('packet-marks'), empty.has('total-max-limit')]).toEqual([true, true]);
});

test('a text that is cut takes the space that is left', () => {
  const slow = registry.find((menu) => menu.path === '/ip/settings/slow-path');
  if (slow === undefined) throw new Error('menus are missing');
  const fitted = { reason: 120, description: 610, packets: 80, 'packets-per-second': 120 };
  const columns = tableColumns(slow, {}, false, { fitted });
  expect(tracks(columns, 0)).toBe(`120px ${WIDEST}px 80px 120px minmax(0, 1fr)`);
  expect(tracks(columns, 120 + WIDEST + 80 + 120 + 100)).toBe(`120px ${WIDEST + 100}px 80px 120px minmax(0, 1fr)`);
  expect(tracks(columns, 2000)).toBe('120px 610px 80px 120px minmax(0, 1fr)');
  // A width that the user chose stays.
  const chosen = tableColumns(slow, { widths: { description: 200 } }, false, { fitted });
  expect(tracks(chosen, 2000)).toBe('120px 200px 80px 120px minmax(0, 1fr)');
});

test('a column grows for longer texts, as far as there is room; counters at the right edge in any case', () => {
  const fitted = { 'dst-address': 120, gateway: 80, distance: 60 };
  const layout = { columns: ['dst-address', 'gateway', 'distance'] };
  const flags = tableColumns(route, layout)[0]?.width ?? 0;
  const tracksIn = (room: number, widths: object = {}) =>
    tracks(
      tableColumns(route, { ...layout, ...widths }, false, { fitted, grown: { gateway: 140 } }),
      flags + 260 + room,
    );
  expect(tracksIn(0)).toMatch(/px 120px 80px 60px/);
  expect(tracksIn(30)).toMatch(/px 120px 110px 60px/);
  expect(tracksIn(500)).toMatch(/px 120px 140px 60px/);
  // A column that the user has sized keeps its width.
  expect(tracksIn(500, { widths: { gateway: 70 } })).toMatch(/px 120px 70px 60px/);

  const findings = { fitted: { bytes: 80, packets: 70 }, grown: { bytes: 95 } };
  const bytes = tableColumns(filter, {}, false, findings).find(({ name }) => name === 'bytes');
  expect(bytes).toMatchObject({ width: 95, pinIndex: 1 });
});

test('only columns with longer texts are measured, and none shrinks', () => {
  const columns = tableColumns(route, {}, false, {
    fitted: { gateway: 80, 'dst-address': 120 },
    grown: { gateway: 100 },
  });
  const names = new Set(['gateway', 'dst-address', 'distance']);
  const needs: Readonly<Record<string, number>> = { gateway: 90, 'dst-address': 130, distance: 500 };
  // A column without a width yet is measured over all rows.
  expect(grownWidths(columns, names, ({ name }) => needs[name] ?? 0)).toEqual([['dst-address', 130]]);
  expect(grownWidths(columns, new Set(), () => 999)).toEqual([]);
});
