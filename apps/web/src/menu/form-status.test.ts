import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import { statusWords } from './FormStatus.tsx';

const filter = menuByPath('/ip/firewall/filter');
const connections = menuByPath('/ip/firewall/connection');
if (filter === undefined || connections === undefined) throw new Error('menus are missing');

test('a word stands for every state that holds, always at the same place', () => {
  expect(statusWords(filter, { '.id': '*1' })[0]).toBe('enabled');
  const words = statusWords(filter, { '.id': '*1', disabled: 'true', dynamic: 'true' });
  expect(words[0]).toBe('disabled');
  expect(words).toContain('dynamic');
  expect(words).toHaveLength(filter.flags.length);
  expect(statusWords(connections, { '.id': '*1' }).every((word) => word === '')).toBe(true);
});
