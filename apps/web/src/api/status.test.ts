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

test('a status message is read by name', () => {
  expect(
    toStatus({ identity: 'r1', cpuLoad: 12, uptime: '1d', freeMemory: 5, agent: { connected: false, state: 'down' } }),
  ).toMatchObject({ identity: 'r1', cpuLoad: '12', uptime: '1d', freeMemory: '5', engine: 'down' });
});
