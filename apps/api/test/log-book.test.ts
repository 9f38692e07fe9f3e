import { expect, it } from 'vitest';
import { LogBook } from '../src/state/log-book.js';

it('lines of the data plane that are known late stand where they were written', () => {
  const book = new LogBook();
  const at = 1_800_000_000_000;
  book.add('system,info', 'started', at);
  book.add('system,info', 'connected', at + 900);
  book.add('interface,info', 'ether1 link up', at + 300);
  book.add('interface,info', 'ether2 link up', at + 300);
  book.add('interface,info', 'ether1 link down', at - 100);
  expect(book.lines().map(({ message }) => message)).toEqual([
    'ether1 link down',
    'started',
    'ether1 link up',
    'ether2 link up',
    'connected',
  ]);
  expect(new Set(book.lines().map(({ id }) => id)).size).toBe(5);
});

it('a clock that is set back leaves the order in which things happened', () => {
  const book = new LogBook();
  book.add('system,info', 'before', 1_800_000_000_000);
  book.add('system,info', 'after', 1_800_000_000_000 - 3_600_000);
  expect(book.lines().map(({ message }) => message)).toEqual(['before', 'after']);
});
