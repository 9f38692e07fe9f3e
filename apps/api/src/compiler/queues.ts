import type {
  InterfaceQueue,
  QueueLimit,
  QueueTarget,
  QueueTime,
  QueueType,
  SimpleQueue,
  TreeParent,
  TreeQueue,
} from '@tollway/dataplane-agent';
import {
  DEFAULT_INTERFACE_QUEUE,
  durationMs,
  parseQueueTarget,
  parseWeekdayTimes,
  splitNot,
  WEEKDAYS,
} from '@tollway/schema';
import { runToEnd, type TimeSlicer } from '../scheduling/time-slicer.js';
import { interfacesOf } from '../snapshot/interfaces.js';
import { type ConfigSnapshot, type Row, rowsOf } from '../snapshot/snapshot.js';
import { CompileContext, effective, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { linkedQueue, type UnlinkedQueue, unlinkedQueue } from './queue-cache.js';
import { type Child, withParents } from './queue-parents.js';
import { QueueTypes } from './queue-types.js';

const SIMPLE = '/queue/simple';
const TREE = '/queue/tree';

/** The compiled queues, and the queue types that they reference by index. */
interface Queues {
  readonly types: QueueType[];
  readonly simple: SimpleQueue[];
  readonly tree: TreeQueue[];
  readonly interfaces: InterfaceQueue[];
}

export function compileQueues(context: CompileContext): Queues {
  const types = new QueueTypes(context);
  const simple = simpleQueues(context, types);
  const tree = treeQueues(context, types);
  const interfaces = interfaceQueues(context, types);
  return { types: types.compiled(), simple, tree, interfaces };
}

/** Texts of the properties of a limit in one direction. */
interface LimitTexts {
  readonly limitAt: string | undefined;
  readonly maxLimit: string | undefined;
  readonly burstLimit: string | undefined;
  readonly burstThreshold: string | undefined;
  readonly burstTime: string | undefined;
  /** Capacity of the bucket, seconds of its rate. */
  readonly bucketSize: string | undefined;
  readonly priority: string | undefined;
  readonly queueType: string | undefined;
}

const DEFAULT_BUCKET_S = '0.1';
const LOWEST_PRIORITY = '8';
const DEFAULT_TYPE = 'default-small';

function limitOf(types: QueueTypes, texts: LimitTexts): QueueLimit {
  return {
    'limit-at': Number(texts.limitAt ?? 0),
    'max-limit': Number(texts.maxLimit ?? 0),
    'burst-limit': Number(texts.burstLimit ?? 0),
    'burst-threshold': Number(texts.burstThreshold ?? 0),
    'burst-time-ms': durationMs(texts.burstTime ?? '0s') ?? 0,
    'bucket-ms': Math.round(1_000 * Number(texts.bucketSize ?? DEFAULT_BUCKET_S)),
    priority: Number(texts.priority ?? LOWEST_PRIORITY),
    'queue-type': types.indexOf(texts.queueType ?? DEFAULT_TYPE),
  };
}

interface SimpleChild extends Child {
  readonly queue: UnlinkedQueue;
}

function simpleChild(context: CompileContext, types: QueueTypes, row: Row): SimpleChild {
  const parent = requiredValue(SIMPLE, row, 'parent');
  const totalType = effective(SIMPLE, row, 'total-queue');
  // The parent's total limit may make this type effective, so that it must exist in any case.
  if (totalType !== undefined) types.kindOf(totalType);
  const queue = unlinkedQueue(context, types, row, () => simpleQueue(context, types, row));
  return { row, parent: parent === 'none' ? undefined : parent, queue };
}

/** Simple queues that cannot work, by row id, with the reason for people. Only simple queues are examined. */
export async function invalidSimpleQueues(
  snapshot: ConfigSnapshot,
  slicer: TimeSlicer,
): Promise<ReadonlyMap<number, string>> {
  const context = new CompileContext(snapshot, 0);
  const types = new QueueTypes(context);
  const translated = await slicer.map(context.enabled(SIMPLE), (row) =>
    context.orInvalid(row, () => simpleChild(context, types, row)),
  );
  const queues = translated.filter((queue) => queue !== undefined);
  await slicer.finish(withParents(context, rowsOf(snapshot, SIMPLE), queues));
  return context.invalid;
}

function simpleQueues(context: CompileContext, types: QueueTypes): SimpleQueue[] {
  const queues = context.translate(SIMPLE, (row) => simpleChild(context, types, row));
  const linked = new Map<Row, SimpleQueue>();
  for (const { queue, parent } of runToEnd(withParents(context, rowsOf(context.snapshot, SIMPLE), queues))) {
    const above = parent && linked.get(parent.row);
    // A parent's limit for both directions together applies to all its children, so that each child needs a limit for
    // both directions.
    const total = queue.queue.total ?? (above?.total ? limitOf(types, totalTexts(queue.row)) : null);
    linked.set(queue.row, linkedQueue(queue.queue, above?.row ?? null, total));
  }
  return queues.flatMap(({ row }) => linked.get(row) ?? []);
}

function simpleQueue(context: CompileContext, types: QueueTypes, row: Row): UnlinkedQueue {
  const limit = (at: 0 | 1): QueueLimit =>
    limitOf(
      types,
      limitTexts((property) => effective(SIMPLE, row, property)?.split('/')[at]),
    );
  const dst = effective(SIMPLE, row, 'dst');
  return {
    row: row.id,
    targets: requiredValue(SIMPLE, row, 'target')
      .split(',')
      .map((text) => target(context, 'target', text)),
    dst: dst === undefined ? null : target(context, 'dst', dst),
    'packet-marks': marks(context, effective(SIMPLE, row, 'packet-marks')),
    time: time(context, effective(SIMPLE, row, 'time')),
    upload: limit(0),
    download: limit(1),
    total: total(types, row),
  };
}

/** The texts of one limit; `text` returns the text of a property. */
const limitTexts = (text: (property: string) => string | undefined): LimitTexts => ({
  limitAt: text('limit-at'),
  maxLimit: text('max-limit'),
  burstLimit: text('burst-limit'),
  burstThreshold: text('burst-threshold'),
  burstTime: text('burst-time'),
  bucketSize: text('bucket-size'),
  priority: text('priority'),
  queueType: text('queue'),
});

const totalTexts = (row: Row): LimitTexts => limitTexts((property) => effective(SIMPLE, row, `total-${property}`));

/** Limit of both directions together; null without a rate for them. */
function total(types: QueueTypes, row: Row): QueueLimit | null {
  const texts = totalTexts(row);
  return Number(texts.limitAt ?? 0) > 0 || Number(texts.maxLimit ?? 0) > 0 ? limitOf(types, texts) : null;
}

function target(context: CompileContext, property: string, text: string): QueueTarget {
  const parsed = parseQueueTarget(text);
  if (parsed === undefined) throw new InvalidRow(`${property}: ${text} is neither a prefix nor an interface`);
  if (!('interface' in parsed)) return { address: parsed.address, 'prefix-len': parsed.length };
  return { interface: context.interfaces.row(property, parsed.interface) };
}

const marks = (context: CompileContext, names: string | undefined): number[] =>
  names === undefined || names === '' ? [] : names.split(',').map((name) => context.marks.of(name));

function time(context: CompileContext, value: string | undefined): QueueTime | null {
  if (value === undefined) return null;
  const { negate, text } = splitNot(value);
  const times = parseWeekdayTimes(text);
  if (times === undefined) throw new InvalidRow(`time: ${text} cannot be read`);
  return {
    'from-ms': times.fromMs,
    'to-ms': times.toMs,
    days: WEEKDAYS.reduce((sum, day, bit) => (times.days.includes(day) ? sum | (1 << bit) : sum), 0),
    'utc-offset-s': context.clockOffset(),
    negate,
  };
}

interface TreeChild extends Child {
  readonly queue: Omit<TreeQueue, 'parent'>;
  /** The interface or global parent that a root queue is attached to. */
  readonly root: TreeParent | undefined;
}

function treeQueues(context: CompileContext, types: QueueTypes): TreeQueue[] {
  const queues = context.translate(TREE, (row): TreeChild => {
    const parent = requiredValue(TREE, row, 'parent');
    const root = treeRoot(context, parent);
    return { row, parent: root === undefined ? parent : undefined, root, queue: treeQueue(context, types, row) };
  });
  const linked = new Map<Row, TreeQueue>();
  for (const { queue, parent } of runToEnd(withParents(context, rowsOf(context.snapshot, TREE), queues))) {
    const above: TreeParent | undefined = parent && { kind: 'queue', row: parent.row.id };
    linked.set(queue.row, { ...queue.queue, parent: queue.root ?? above ?? { kind: 'global' } });
  }
  return queues.flatMap(({ row }) => linked.get(row) ?? []);
}

/**
 * A parent that is no queue, by name. Names of interfaces take precedence over queues, which cannot have such names.
 */
function treeRoot(context: Pick<CompileContext, 'interfaces'>, parent: string): TreeParent | undefined {
  if (parent === 'global') return { kind: 'global' };
  const row = context.interfaces.find(parent);
  return row === undefined ? undefined : { kind: 'interface', interface: row };
}

function treeQueue(context: CompileContext, types: QueueTypes, row: Row): Omit<TreeQueue, 'parent'> {
  const text = (property: string) => effective(TREE, row, property);
  return {
    row: row.id,
    'packet-marks': marks(context, text('packet-mark')),
    limit: limitOf(types, limitTexts(text)),
  };
}

/** Queues of interfaces, as far as they keep packets beside the port. */
function interfaceQueues(context: CompileContext, types: QueueTypes): InterfaceQueue[] {
  return interfacesOf(context.snapshot).flatMap((row) => {
    const name = row.values.queue ?? DEFAULT_INTERFACE_QUEUE;
    const queue = context.orInvalid(row, () =>
      types.kindOf(name) === 'none' ? [] : [{ interface: row.id, 'queue-type': types.indexOf(name) }],
    );
    return queue ?? [];
  });
}
