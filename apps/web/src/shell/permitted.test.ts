import { expect, test } from 'vitest';
import { QUEUE_IMPORT } from '../windows/define-windows.ts';
import { permittedMenu } from '../windows/permitted-menu.ts';
import { mayOpen } from './permitted.ts';

const commands = (path: string, group: string) => {
  const shown = permittedMenu(path, group);
  expect(permittedMenu(path, group)).toBe(shown);
  return shown?.commands.size;
};

test('who may only look is offered no commands, who may write none of users', () => {
  expect(commands('/ip/firewall/filter', 'full')).toBeGreaterThan(0);
  expect(commands('/ip/firewall/filter', 'write')).toBeGreaterThan(0);
  expect(commands('/ip/firewall/filter', 'read')).toBe(0);
  expect(commands('/user', 'full')).toBeGreaterThan(0);
  expect(commands('/user', 'write')).toBe(0);
});

test('the import is nothing for those who may add no queues', () => {
  expect(['full', 'write', 'read'].map((group) => mayOpen(QUEUE_IMPORT, group))).toEqual([true, true, false]);
  expect(mayOpen('/queue/lint', 'read')).toBe(true);
});
