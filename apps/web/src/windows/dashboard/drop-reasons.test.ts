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
  for (const reason of [
    'filter-drop',
    'connection-table-full',
    'reverse-path',
    'queue-full',
    'handover-stale',
    'never-heard-of',
  ]) {
    expect(menuByPath(dropReason(reason).opens), reason).toBeDefined();
  }
});

/** The reasons in the tables of packet-flow.md between two texts. */
const reasonsBetween = (start: string, end: string) => {
  const section = flow.slice(flow.indexOf(start), flow.indexOf(end));
  return [...section.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, reason = '']) => reason);
};

const OF_WORKERS = 'Outside the stages';
const END = '## Why a packet is not forwarded by the flow cache';

test('reasons with a weight are those of stages and workers', () => {
  const reasons = reasonsBetween('## Why a packet is dropped', END);
  expect(reasons.length).toBeGreaterThan(40);
  for (const reason of KNOWN_REASONS) expect(reasons, reason).toContain(reason);
});

test('what a worker drops outside the stages is trouble', () => {
  const reasons = reasonsBetween(OF_WORKERS, END);
  expect(reasons).toContain('receive-queue-full');
  for (const reason of [...reasons, 'handover-stale']) expect(dropReason(reason).weight, reason).toBe('trouble');
});
