import { registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { shownColumns, tableColumns, toggleColumn } from './columns.ts';
import { pinOffsets } from './pinned-columns.ts';

const filter = registry.find((menu) => menu.path === '/ip/firewall/filter');
const route = registry.find((menu) => menu.path === '/ip/route');
if (filter === undefined || route === undefined) throw new Error('menus are missing');

const widths = { bytes: 80, packets: 70 };
const pinned = (layout: Parameters<typeof tableColumns>[1]) =>
  tableColumns(filter, layout).flatMap(({ name, pinIndex }) => (pinIndex === undefined ? [] : [[name, pinIndex]]));

test('counters that end a table stay in view; others scroll', () => {
  expect(pinned({})).toEqual([
    ['bytes', 1],
    ['packets', 0],
  ]);
  expect(pinned({ columns: ['chain', 'packets', 'bytes'] })).toEqual([
    ['packets', 1],
    ['bytes', 0],
  ]);
  expect(pinned({ columns: ['bytes', 'chain'] })).toEqual([]);
  expect(tableColumns(route, {}).every((column) => column.pinIndex === undefined)).toBe(true);
});

test('each stands left of those after it, while they leave room for the rest', () => {
  const columns = tableColumns(filter, { widths });
  expect([...pinOffsets(columns, 1440).offsets]).toEqual([
    ['--pin-0', '0px'],
    ['--pin-1', '70px'],
  ]);
  expect(pinOffsets(columns, 1440).fit).toBe(true);
  expect(pinOffsets(columns, 390).fit).toBe(false);
  expect(pinOffsets(tableColumns(route, {}), 1440).fit).toBe(false);
});

test('an added column stands where the dialog has it, and counters remain the last', () => {
  const columns = shownColumns(filter, toggleColumn(filter, {}, 'log-prefix'));
  expect(columns.slice(-2)).toEqual(['bytes', 'packets']);
  const without = toggleColumn(filter, {}, 'protocol');
  expect(shownColumns(filter, toggleColumn(filter, without, 'protocol'))).toEqual(filter.columns);
});
