import { expect, it } from 'vitest';
import { FailureReport } from '../src/auth/failed-logins.js';
import { LogBuffer } from '../src/state/log-buffer.js';

it('lines of the data plane that are known late stand where they were written', () => {
  const log = new LogBuffer();
  const at = 1_800_000_000_000;
  log.add('system,info', 'started', at);
  log.add('system,info', 'connected', at + 900);
  log.add('interface,info', 'ether1 link up', at + 300);
  log.add('interface,info', 'ether2 link up', at + 300);
  log.add('interface,info', 'ether1 link down', at - 100);
  expect(log.lines().map(({ message }) => message)).toEqual([
    'ether1 link down',
    'started',
    'ether1 link up',
    'ether2 link up',
    'connected',
  ]);
  expect(new Set(log.lines().map(({ id }) => id)).size).toBe(5);
});

it('a clock that is set back leaves the order in which things happened', () => {
  const log = new LogBuffer();
  log.add('system,info', 'before', 1_800_000_000_000);
  log.add('system,info', 'after', 1_800_000_000_000 - 3_600_000);
  expect(log.lines().map(({ message }) => message)).toEqual(['before', 'after']);
});

it('failed logins that were only counted are one failure or several failures', () => {
  const told: string[] = [];
  const report = new FailureReport(({ text }) => told.push(text));
  for (const user of ['boss', 'boss', 'guest', 'guest', 'guest']) report.add(user, '192.0.2.1');
  report.flush();
  expect(told.slice(2)).toEqual([
    '1 more login failure for user boss from 192.0.2.1',
    '2 more login failures for user guest from 192.0.2.1',
  ]);
});
