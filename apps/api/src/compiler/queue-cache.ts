import type { QueueLimit, SimpleQueue } from '@tollway/dataplane-agent';
import type { Row } from '../snapshot/snapshot.js';
import type { CompileContext } from './context.js';
import type { InterfaceNames } from './interface-names.js';
import type { QueueTypes } from './queue-types.js';

/**
 * Cache of translated simple queues. An unchanged row is the same object in the next snapshot; its translation is reused
 * while the types and the clock offset that it depends on are the same.
 */

/** A queue without the reference to its parent. */
export type UnlinkedQueue = Omit<SimpleQueue, 'parent'>;

interface Translated {
  readonly queue: UnlinkedQueue;
  readonly interfaces: InterfaceNames;
  /** Referenced queue types with their indices. */
  readonly types: readonly (readonly [string, number])[];
  readonly marks: ReadonlySet<string>;
  /** Clock offset that the translation depends on. */
  readonly utcOffsetS: number | undefined;
}

const translated = new WeakMap<Row, Translated>();

/** The cached queue of a row if it is still valid, else a new one by `translate`. */
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
  const queue = types.dependencies.during(
    (type) => named.push(type),
    () => context.marks.dependencies.during((mark) => marks.add(mark), translate),
  );
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

/** A total that follows from the parent is a new object each time. */
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

/** The queue with parent and total; the same object while the queue is unchanged. */
export function linkedQueue(queue: UnlinkedQueue, parent: number | null, total: QueueLimit | null): SimpleQueue {
  const known = linked.get(queue);
  if (known !== undefined && known.parent === parent && sameLimit(known.total ?? null, total)) return known;
  const whole: SimpleQueue = { ...queue, parent, total };
  linked.set(queue, whole);
  return whole;
}
