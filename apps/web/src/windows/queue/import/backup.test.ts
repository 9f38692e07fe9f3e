import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { listedProperties, listOf } from './backup.ts';

const menu = menuByPath('/queue/simple');
if (menu === undefined) throw new Error('no menu of queues');

test('what can be set is listed, with defaults; what the system made is not', () => {
  const text = listOf(menu, [
    { '.id': '*1', name: 'a', target: '10.0.0.1/32,10.0.0.2/32', comment: 'the "first"', rate: '5/5' },
    { '.id': '*2', name: 'd', dynamic: 'true' },
  ]);
  const [titles = '', line = '', end] = text.split('\r\n');
  expect(end).toBe('');
  expect(titles.split(',')).toEqual(listedProperties(menu));
  expect(titles).not.toContain('rate,');
  expect(line).toContain('a,"10.0.0.1/32,10.0.0.2/32"');
  expect(line).toContain('"the ""first"""');
  expect(line).toContain('0/0');
});
