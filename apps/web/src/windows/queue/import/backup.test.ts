import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import type { Row } from '../../../api/row.ts';
import { listBack, listedProperties } from './backup.ts';

const menu = menuByPath('/queue/simple');
if (menu === undefined) throw new Error('no menu of queues');
const properties = listedProperties(menu);

/** Cells by title; the values here hold no commas. */
function cells(line = ''): Record<string, string> {
  const values = line.split(',');
  return Object.fromEntries(properties.flatMap((name, at) => (values[at] ? [[name, values[at]]] : [])));
}

test('all are named with what differs now; those that are gone with all that they had; what the system made is not', () => {
  const before: readonly Row[] = [
    { name: 'same', target: '10.0.0.1/32', 'max-limit': '5/5', parent: 'none' },
    { name: 'changed', target: '10.0.0.2/32', 'max-limit': '5/5', 'limit-at': '0/0', rate: '3/3' },
    { name: 'gone', target: '10.0.0.3/32', 'max-limit': '0/0', comment: 'the "first"' },
    { name: 'made', target: '10.0.0.4/32', dynamic: 'true' },
  ];
  const now: readonly Row[] = [
    { name: 'same', target: '10.0.0.1/32', 'max-limit': '5/5' },
    { name: 'changed', target: '10.0.0.2/32', 'max-limit': '9/9', 'limit-at': '2/2' },
    { name: 'new', target: '10.0.0.9/32' },
  ];
  const [titles, ...lines] = listBack(menu, before, now).split('\r\n');
  expect(titles).toBe(properties.join(','));
  expect(properties).not.toContain('rate');
  expect(lines.map(cells)).toEqual([
    { name: 'same' },
    { name: 'changed', 'max-limit': '5/5', 'limit-at': '0/0' },
    { name: 'gone', target: '10.0.0.3/32', comment: '"the ""first"""' },
    {},
  ]);
});
