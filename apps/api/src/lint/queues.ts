import type { QUEUE_FINDINGS } from '@tollway/schema';
import { type ConfigSnapshot, type Row, rowsOf } from '../config/snapshot.js';
import { atOnce } from '../live/slices.js';
import { matchFindings } from './queue-matches.js';
import { rateFindings } from './queue-rates.js';

export type Finding = (typeof QUEUE_FINDINGS)[number];

/** A setting of a queue that has no effect, or another one than it seems to have. */
export interface QueueFinding {
  readonly menu: QueueMenu;
  /** Of the queue. */
  readonly row: number;
  readonly name: string;
  readonly property: string;
  readonly finding: Finding;
  /** For people: what it means for the traffic, and what would change it. */
  readonly message: string;
}

export type QueueMenu = '/queue/simple' | '/queue/tree';

/** A queue with those above and below it. */
export interface QueueNode {
  readonly menu: QueueMenu;
  readonly row: Row;
  readonly name: string;
  readonly parent: QueueNode | undefined;
  readonly children: QueueNode[];
}

/** What {@link lintSteps} finds, without a pause. */
export const lintQueues = (snapshot: ConfigSnapshot, invalid: ReadonlyMap<number, unknown>): QueueFinding[] =>
  atOnce(lintSteps(snapshot, invalid));

/**
 * Looks for settings of queues that do not do what they seem to, and yields after each queue. Pure; takes time linear in the
 * number of queues.
 * @param invalid rows that cannot work, which are left out like those that are switched off.
 */
export function* lintSteps(
  snapshot: ConfigSnapshot,
  invalid: ReadonlyMap<number, unknown>,
): Generator<undefined, QueueFinding[]> {
  const found: QueueFinding[][] = [];
  for (const menu of ['/queue/simple', '/queue/tree'] as const) {
    const rows = rowsOf(snapshot, menu).filter((row) => !row.disabled && !invalid.has(row.id));
    const nodes = yield* linked(menu, rows);
    found.push(yield* rateFindings(nodes));
    found.push(menu === '/queue/simple' ? yield* matchFindings(nodes, snapshot) : markFindings(nodes));
  }
  return found.flat();
}

/** Marks of tree queues that have children, which take packets themselves no longer. */
function markFindings(nodes: readonly QueueNode[]): QueueFinding[] {
  return nodes.flatMap(({ menu, row, name, children }) => {
    const mark = row.values['packet-mark'] ?? '';
    if (children.length === 0 || mark === '') return [];
    const message = `packet-mark ${mark} has no effect on a queue with children; give it to them`;
    return [{ menu, row: row.id, name, property: 'packet-mark', finding: 'mark-without-effect', message }];
  });
}

/** Queues in list order, with their parents and children. */
function* linked(menu: QueueMenu, rows: readonly Row[]): Generator<undefined, QueueNode[]> {
  const made = new Map<string, { parent: QueueNode | undefined } & Omit<QueueNode, 'parent'>>();
  for (const row of rows) {
    const name = row.values.name ?? '';
    made.set(name, { menu, row, name, parent: undefined, children: [] });
    yield;
  }
  for (const node of made.values()) {
    const parent = made.get(node.row.values.parent ?? '');
    node.parent = parent;
    parent?.children.push(node);
    yield;
  }
  return [...made.values()];
}
