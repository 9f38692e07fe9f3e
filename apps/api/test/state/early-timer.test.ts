import { expect, it, vi } from 'vitest';
import { RECORD } from '../../src/agent/connections.js';
import type { AgentPort } from '../../src/agent/port.js';
import { LiveState } from '../../src/state/live-state.js';

// A timer counts from when the event loop last looked at the clock, which under load is well before now.
vi.mock('node:timers/promises', async (original) => {
  const real = await original<{ setTimeout: (ms: number) => Promise<void> }>();
  return { ...real, setTimeout: (ms: number) => real.setTimeout(Math.max(ms - 30, 0)) };
});

it('waits for rates although timers end before their time', async () => {
  const agent = {
    hello: undefined,
    onDown: () => undefined,
    request: ({ op }: { op: string }) => {
      if (op === 'stats') return Promise.resolve({ slow: [] });
      const now = process.hrtime.bigint();
      const records = Buffer.alloc(RECORD);
      // 8 kbit/s.
      records.writeBigUInt64LE(now / 1_000_000n, 104);
      return Promise.resolve({ records, 'now-ns': Number(now) });
    },
  };
  const dump = await new LiveState(agent as unknown as AgentPort).connections(0, true);
  expect(dump?.hasRates).toBe(true);
  expect(Math.round(Number(dump?.value(0, 'orig-rate')) / 1000)).toBe(8);
});
