import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { tableColumns } from './columns.ts';
import { rowsText } from './rows-text.ts';

const queues = menuByPath('/queue/simple');
if (queues === undefined) throw new Error('menus are missing');

test('rows are copied as titles and lines with tabs, as they are shown', () => {
  const columns = tableColumns(queues, { columns: ['name', 'max-limit.upload', 'rate.download'] });
  const row = { '.id': '*1', name: 'a\tb', 'max-limit': '20000000/0', rate: '1/1500000' };
  expect(rowsText(columns, [row])).toBe('Name\tUpload Max Limit\tDownload Rate\na b\t20M\t1.5 Mbps');
});
