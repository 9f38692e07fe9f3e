import type { QueueLimit, SimpleQueue } from '@tollway/dataplane-agent';
import type { Row } from '../snapshot/snapshot.js';
import type { CompileContext } from './context.js';
import type { InterfaceNames } from './interface-names.js';
import type { QueueTypes } from './queue-types.js';

/**
 * Simple queues that were translated before. A row that no commit changed is the same object in the next snapshot, and
 * gives the same queue where what it refers to is the same: one of 25,000 is translated anew, and sent anew, not all.
 */

/** A queue before its parent is known. */
export type UnlinkedQueue = Omit<SimpleQueue, 'parent'>;

interface Translated {
  readonly queue: UnlinkedQueue;
  readonly interfaces: InterfaceNames;
  /** Types that it names, with their indices. */
  readonly types: readonly (readonly [string, number])[];
  readonly marks: ReadonlySet<string>;
  /** Offset of the clock that it depends on. */
  readonly utcOffsetS: number | undefined;
}

const translated = new WeakMap<Row, Translated>();

/** The queue of a row: as it was before, where that holds, or by `translate`. */
export function unlinkedQueue(
  context: CompileContext,
  types: QueueTypes,
  row: Row,
  translate: () => UnlinkedQueue,
): UnlinkedQueue {
  const known = translated.get(row);
  if (known !== undefined && holds(known, context, types)) {
    if (known.utcOffsetS !== undefined) context.clockOffset();
    for (const mark of known.marks) context.marks.of(mark);
    return known.queue;
  }
  const named: (readonly [string, number])[] = [];
  const marks = new Set<string>();
  const queue = types.noting(named, () => context.marks.noting(marks, translate));
  const utcOffsetS = queue.time === null || queue.time === undefined ? undefined : context.utcOffsetS;
  translated.set(row, { queue, interfaces: context.interfaces, types: named, marks, utcOffsetS });
  return queue;
}

function holds(known: Translated, context: CompileContext, types: QueueTypes): boolean {
  return (
    known.interfaces === context.interfaces &&
    (known.utcOffsetS === undefined || known.utcOffsetS === context.utcOffsetS) &&
    known.types.every(([name, index]) => types.indexOf(name) === index)
  );
}

const linked = new WeakMap<UnlinkedQueue, SimpleQueue>();

/** A total that it has because of its parent is made anew each time. */
function sameLimit(a: QueueLimit | null, b: QueueLimit | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a === b ||
    (a['queue-type'] === b['queue-type'] &&
      a['limit-at'] === b['limit-at'] &&
      a['max-limit'] === b['max-limit'] &&
      a['burst-limit'] === b['burst-limit'] &&
      a['burst-threshold'] === b['burst-threshold'] &&
      a['burst-time-ms'] === b['burst-time-ms'] &&
      a['bucket-ms'] === b['bucket-ms'] &&
      a.priority === b.priority)
  );
}

/** The queue with its parent and its total. It is the same object as long as it is the same queue. */
export function linkedQueue(queue: UnlinkedQueue, parent: number | null, total: QueueLimit | null): SimpleQueue {
  const known = linked.get(queue);
  if (known !== undefined && known.parent === parent && sameLimit(known.total ?? null, total)) return known;
  const whole: SimpleQueue = { ...queue, parent, total };
  linked.set(queue, whole);
  return whole;
}
