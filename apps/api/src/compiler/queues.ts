import type { Prefix, QueueLimit, QueueType, SimpleQueue } from '@tollway/dataplane-agent';
import { ipv4Prefix, ipv4Text, menuByPath } from '@tollway/schema';
import { rowsOf } from '../config/snapshot.js';
import { CannotWork, type CompileContext, effective, needed } from './context.js';

const SIMPLE = '/queue/simple';
const TYPE = '/queue/type';

/** Depth of the token bucket, in time at the full rate, ms. */
const BUCKET_MS = 100;

/** The queues, and the types that they name by index. */
export interface Queues {
  readonly types: QueueType[];
  readonly simple: SimpleQueue[];
}

/** Simple queues in list order. */
export function compileQueues(context: CompileContext): Queues {
  const types = new QueueTypes(context);
  const simple = context.translate(SIMPLE, (row): SimpleQueue => {
    const rates = needed(SIMPLE, row, 'max-limit').split('/');
    const names = needed(SIMPLE, row, 'queue').split('/');
    const limit = (half: 0 | 1): QueueLimit => ({
      'limit-at': 0,
      'max-limit': Number(rates[half]),
      'burst-limit': 0,
      'burst-threshold': 0,
      'burst-time-ms': 0,
      'bucket-ms': BUCKET_MS,
      priority: 8,
      'queue-type': types.indexOf(names[half] ?? ''),
    });
    return {
      row: row.id,
      targets: needed(SIMPLE, row, 'target').split(',').map(prefix),
      dst: null,
      'packet-marks': [],
      parent: null,
      time: null,
      upload: limit(0),
      download: limit(1),
      total: null,
    };
  });
  return { types: types.compiled(), simple };
}

/** Queue types by name, and the indices of those that are in use. */
class QueueTypes {
  readonly #limits: ReadonlyMap<string, number>;
  readonly #index = new Map<string, number>();
  readonly #types: QueueType[] = [];

  constructor(context: CompileContext) {
    const limits = new Map(
      (menuByPath(TYPE)?.builtin ?? []).map(({ values }) => [values.name ?? '', Number(values['pfifo-limit'])]),
    );
    for (const row of rowsOf(context.snapshot, TYPE)) {
      // The one kind there is.
      if (needed(TYPE, row, 'kind') === 'pfifo') {
        limits.set(needed(TYPE, row, 'name'), Number(effective(TYPE, row, 'pfifo-limit')));
      }
    }
    this.#limits = limits;
  }

  indexOf(name: string): number {
    const known = this.#index.get(name);
    if (known !== undefined) return known;
    const limit = this.#limits.get(name);
    if (limit === undefined) throw new CannotWork(`queue type ${name} does not exist`);
    const index = this.#types.push({ kind: 'pfifo', limit }) - 1;
    this.#index.set(name, index);
    return index;
  }

  /** The types in use, by index. */
  compiled(): QueueType[] {
    return this.#types;
  }
}

function prefix(text: string): Prefix {
  const parsed = ipv4Prefix(text);
  if (parsed === undefined) throw new CannotWork(`target ${text} is no IPv4 prefix`);
  return { address: ipv4Text(parsed.address), 'prefix-len': parsed.length };
}
