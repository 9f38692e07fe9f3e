import type { QueueMenu } from '@tollway/protocol/queue-menus';
import type { Row } from '../snapshot/snapshot.js';

/** A queue with its parent and children. */
export interface QueueNode {
  readonly menu: QueueMenu;
  readonly row: Row;
  readonly name: string;
  readonly parent: QueueNode | undefined;
  readonly children: QueueNode[];
}

/** Queues in list order, with their parents and children. */
export function* linked(menu: QueueMenu, rows: readonly Row[]): Generator<undefined, QueueNode[]> {
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
