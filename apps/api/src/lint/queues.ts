import { QUEUE_MENUS } from '@tollway/protocol/queue-menus';
import { type ConfigSnapshot, rowsOf } from '../snapshot/snapshot.js';
import type { QueueFinding } from './queue-finding.js';
import { matchFindings } from './queue-matches.js';
import { linked, type QueueNode } from './queue-node.js';
import { rateFindings } from './queue-rates.js';

/**
 * Searches for settings of queues without the expected effect, and yields after each queue. Pure; takes time linear in the
 * number of queues.
 * @param invalid invalid rows, which are left out like disabled ones.
 */
export function* lintSteps(
  snapshot: ConfigSnapshot,
  invalid: ReadonlyMap<number, unknown>,
): Generator<undefined, QueueFinding[]> {
  const found: QueueFinding[][] = [];
  for (const menu of QUEUE_MENUS) {
    const rows = rowsOf(snapshot, menu).filter((row) => !row.disabled && !invalid.has(row.id));
    const nodes = yield* linked(menu, rows);
    found.push(yield* rateFindings(nodes));
    found.push(menu === '/queue/simple' ? yield* matchFindings(nodes, snapshot) : markFindings(nodes));
  }
  return found.flat();
}

/** Marks of tree queues with children, which get no packets themselves. */
function markFindings(nodes: readonly QueueNode[]): QueueFinding[] {
  return nodes.flatMap(({ menu, row, name, children }) => {
    const mark = row.values['packet-mark'] ?? '';
    if (children.length === 0 || mark === '') return [];
    const message = `packet-mark ${mark} has no effect on a queue with children; give it to them`;
    return [{ menu, row: row.id, name, property: 'packet-mark', finding: 'mark-without-effect', message }];
  });
}
