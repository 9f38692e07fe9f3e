import { menuByPath } from '@tollway/schema';
import { expect, test } from 'vitest';
import flow from '../../../../../docs/packet-flow.md?raw';
import { dropReason, KNOWN_REASONS, notableDrops } from './drop-reasons.ts';

test('the worst kind comes first, bookkeeping and reasons that stand still do not come', () => {
  const drops = new Map([
    ['filter-drop', 100],
    ['arp-consumed', 500],
    ['no-route', 3],
    ['runt', 0],
    ['nat-exhausted', 1],
    ['bad-ip-header', 7],
  ]);
  expect(notableDrops(drops).map(({ label, rate }) => [label, rate])).toEqual([
    ['NAT exhausted', 1],
    ['Bad ip header', 7],
    ['No route', 3],
    ['Filter drop', 100],
  ]);
});

test('every reason leads to a window that exists', () => {
  for (const reason of ['filter-drop', 'connection-table-full', 'reverse-path', 'queue-full', 'never-heard-of']) {
    expect(menuByPath(dropReason(reason).opens), reason).toBeDefined();
  }
});

test('reasons with a weight are those of the engine', () => {
  const engine = new Set([...flow.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, reason]) => reason));
  expect(engine.size).toBeGreaterThan(30);
  for (const reason of KNOWN_REASONS) expect(engine, reason).toContain(reason);
});
