import { describe, expect, it } from 'vitest';
import { QueueFindings } from '../../src/lint/queue-findings.js';
import type { ConfigSnapshot, Row } from '../../src/snapshot/snapshot.js';

const QUEUES = 5_000;

/** Queues of which each is hidden by the first. */
const queues = (comment: string): ConfigSnapshot =>
  new Map([
    [
      '/queue/simple',
      Array.from({ length: QUEUES }, (_, n): Row => {
        const values = { name: `q${n}`, target: '10.0.0.0/8', 'max-limit': '1M/1M' };
        return { id: 256 + n, values, disabled: false, comment };
      }),
    ],
  ]);

describe('findings about queues', () => {
  it('are looked for while others work, once for all who ask, and are about the newest configuration', async () => {
    const source = { snapshot: queues('old'), invalid: new Map<number, string>() };
    const findings = new QueueFindings(source);
    let turns = 0;
    let waiting = true;
    const turn = () => {
      turns += 1;
      if (waiting) setImmediate(turn);
    };
    setImmediate(turn);
    const first = findings.refresh();
    const newest: ConfigSnapshot = new Map([['/queue/simple', queues('new').get('/queue/simple')?.slice(0, 2) ?? []]]);
    source.snapshot = newest;
    await findings.refresh();
    waiting = false;
    await first;
    expect(turns).toBeGreaterThan(2);
    expect(findings.findings.map(({ name }) => name)).toContain('q1');
    expect(findings.findings.map(({ name }) => name)).not.toContain('q2');
    const [{ row = 0, message = '' } = {}] = findings.findings;
    expect(findings.of(row)).toContain(message);
  });
});
