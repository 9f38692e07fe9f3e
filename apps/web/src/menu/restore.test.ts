import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import type { Row } from '../api/row.ts';
import { additions } from './restore.ts';

const menu = (path: string) => {
  const found = menuByPath(path);
  if (found === undefined) throw new Error(`${path} is missing`);
  return found;
};
const simple = menu('/queue/simple');

/** What the menu would be after the additions: names, or the ids of those that stayed. */
function restored(stayed: readonly string[], list: ReturnType<typeof additions>): string[] {
  const now = [...stayed];
  for (const values of list) {
    const before = values['place-before'];
    const place = before === undefined ? now.length : now.indexOf(before);
    expect(place).toBeGreaterThanOrEqual(0);
    expect(values.parent === undefined || now.includes(values.parent)).toBe(true);
    now.splice(place, 0, values.name ?? values.comment ?? '');
  }
  return now;
}

test('parents come before what is below them, and all stand where they stood', () => {
  const order = ['*1', '*2', '*3', '*4', '*5', '*6'];
  // desk stands above floor, which it is below, and floor above isp.
  const rows: readonly Row[] = [
    { '.id': '*2', name: 'desk', parent: 'floor', target: '10.0.0.1/32' },
    { '.id': '*3', name: 'floor', parent: 'isp' },
    { '.id': '*5', name: 'isp', parent: 'none' },
    { '.id': '*6', name: 'lab', parent: 'isp' },
  ];
  for (const gone of [rows, rows.toReversed()]) {
    const list = additions(simple, gone, order);
    expect(list.map(({ name }) => name)).toEqual(['isp', 'floor', 'desk', 'lab']);
    expect(list[2]).toEqual({ name: 'desk', parent: 'floor', target: '10.0.0.1/32', 'place-before': 'floor' });
    expect(restored(['*1', '*4'], list)).toEqual(['*1', 'desk', 'floor', '*4', 'isp', 'lab']);
  }
});

test('rows without names stand where they stood; lists that have no order name no place', () => {
  const rule = (id: string) => ({ '.id': id, chain: 'forward', comment: id });
  const list = additions(menu('/ip/firewall/filter'), [rule('*1'), rule('*2'), rule('*4')], ['*1', '*2', '*3', '*4']);
  expect(restored(['*3'], list)).toEqual(['*1', '*2', '*3', '*4']);
  const trees = additions(
    menu('/queue/tree'),
    [
      { '.id': '*1', name: 'b', parent: 'a' },
      { '.id': '*2', name: 'a' },
    ],
    [],
  );
  expect(trees).toEqual([{ name: 'a' }, { name: 'b', parent: 'a' }]);
});
