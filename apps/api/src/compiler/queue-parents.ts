import { MAX_QUEUE_LEVELS } from '@tollway/dataplane-agent/records';
import type { Row } from '../snapshot/snapshot.js';
import type { CompileContext } from './context.js';
import { InvalidRow } from './invalid-row.js';

/** A valid queue and the name of its parent. */
export interface Child {
  readonly row: Row;
  /** undefined for a root. */
  readonly parent: string | undefined;
}

/** A queue with its position in the tree. */
interface Placed<T> {
  readonly queue: T;
  readonly parent: T | undefined;
  /** 1 for a root. */
  readonly level: number;
}

/**
 * Leaves out queues that are invalid because of an ancestor: one that is missing, disabled or invalid itself, a cycle, or too
 * many levels. Parents come before their children.
 */
export function* withParents<T extends Child>(
  context: CompileContext,
  rows: readonly Row[],
  queues: readonly T[],
): Generator<undefined, readonly Placed<T>[]> {
  const working = new Map<string, T>();
  for (const queue of queues) {
    yield;
    working.set(queue.row.values.name ?? '', queue);
  }
  const all = new Map<string, Row>();
  for (const row of rows) {
    yield;
    all.set(row.values.name ?? '', row);
  }
  const done = new Map<T, { readonly level: number } | InvalidRow>();
  const placed: Placed<T>[] = [];

  /** Level of a queue, 1 for a root. */
  const place = (queue: T, path: ReadonlySet<T>): number => {
    const known = done.get(queue);
    if (known instanceof InvalidRow) throw known;
    if (known !== undefined) return known.level;
    try {
      if (path.has(queue)) throw new InvalidRow(`parent: its parents lead back to ${queue.row.values.name}`);
      const parent = queue.parent === undefined ? undefined : working.get(queue.parent);
      if (queue.parent !== undefined && parent === undefined) throw absent(queue.parent, all.get(queue.parent));
      const level = parent === undefined ? 1 : 1 + above(parent, new Set([...path, queue]));
      if (level > MAX_QUEUE_LEVELS) {
        throw new InvalidRow(`parent: queues nest at most ${MAX_QUEUE_LEVELS} levels deep`);
      }
      done.set(queue, { level });
      placed.push({ queue, parent, level });
      return level;
    } catch (error) {
      if (error instanceof InvalidRow) done.set(queue, error);
      throw error;
    }
  };
  const above = (parent: T, path: ReadonlySet<T>): number => {
    try {
      return place(parent, path);
    } catch (error) {
      if (!(error instanceof InvalidRow) || error.message.startsWith('parent: its parents')) throw error;
      throw new InvalidRow(`parent: ${parent.row.values.name} cannot work`);
    }
  };
  const none: ReadonlySet<T> = new Set();
  for (const queue of queues) {
    yield;
    context.orInvalid(queue.row, () => place(queue, none));
  }
  return placed;
}

const absent = (name: string, row: Row | undefined): InvalidRow =>
  new InvalidRow(
    row === undefined
      ? `parent: there is no queue ${name}`
      : `parent: ${name} ${row.disabled ? 'is disabled' : 'cannot work'}`,
  );
