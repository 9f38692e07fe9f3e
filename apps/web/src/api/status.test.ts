import { expect, test } from 'vitest';
import { liveness, toStatus } from './status.ts';

test('amber after 3 s and red after 10 s without data', () => {
  expect(liveness(false, false, 0, 'synced')).toBe('connecting');
  expect(liveness(true, true, 0, 'synced')).toBe('live');
  expect(liveness(true, true, 2.9, 'synced')).toBe('live');
  expect(liveness(true, true, 3, 'synced')).toBe('late');
  expect(liveness(false, true, 0, 'synced')).toBe('late');
  expect(liveness(true, true, 10, 'synced')).toBe('lost');
});

test('a router whose engine is away or refuses the configuration is not called live', () => {
  expect(liveness(true, true, 0, 'down')).toBe('engine-down');
  expect(liveness(true, true, 0, 'refused')).toBe('refused');
});

test('a status message is shown as texts; a data plane that is not connected is down, whatever is known of it', () => {
  const status = {
    identity: 'r1',
    cpuLoad: 12,
    uptime: '1d',
    freeMemory: 5,
    totalMemory: 9,
    revision: 7,
    alarms: ['full'],
    version: '1',
    agent: { connected: false, state: 'behind' },
  } as const;
  const shown = { cpuLoad: '12', uptime: '1d', freeMemory: '5', totalMemory: '9', revision: '7', alarms: ['full'] };
  expect(toStatus(status)).toEqual({ identity: 'r1', ...shown, engine: 'down' });
  expect(toStatus({ ...status, agent: { connected: true, state: 'behind' } }).engine).toBe('behind');
});
