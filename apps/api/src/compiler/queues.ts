import type { Prefix, QueueLimit, SimpleQueue } from '@tollway/dataplane-agent';
import { ipv4Prefix, ipv4Text, menuByPath } from '@tollway/schema';
import { rowsOf } from '../config/snapshot.js';
import { CannotWork, type CompileContext, effective, needed } from './context.js';

const SIMPLE = '/queue/simple';
const TYPE = '/queue/type';

/** Depth of the token bucket, in time at the full rate, ms. */
const BUCKET_MS = 100;

/** Simple queues in list order. */
export function compileSimpleQueues(context: CompileContext): SimpleQueue[] {
  const types = packetLimits(context);
  return context.translate(SIMPLE, (row) => {
    const rates = needed(SIMPLE, row, 'max-limit').split('/');
    const names = needed(SIMPLE, row, 'queue').split('/');
    const limit = (half: 0 | 1): QueueLimit => ({
      'max-limit': Number(rates[half]),
      'bucket-ms': BUCKET_MS,
      'packet-limit': limitOf(types, names[half] ?? ''),
    });
    return {
      row: row.id,
      targets: needed(SIMPLE, row, 'target').split(',').map(prefix),
      upload: limit(0),
      download: limit(1),
    };
  });
}

/** Packets that may wait, by the name of a queue type. */
function packetLimits(context: CompileContext): ReadonlyMap<string, number> {
  const limits = new Map(
    (menuByPath(TYPE)?.builtin ?? []).map(({ values }) => [values.name ?? '', Number(values['pfifo-limit'])]),
  );
  for (const row of rowsOf(context.snapshot, TYPE)) {
    // The one kind there is.
    if (needed(TYPE, row, 'kind') === 'pfifo') {
      limits.set(needed(TYPE, row, 'name'), Number(effective(TYPE, row, 'pfifo-limit')));
    }
  }
  return limits;
}

function limitOf(types: ReadonlyMap<string, number>, name: string): number {
  const limit = types.get(name);
  if (limit === undefined) throw new CannotWork(`queue type ${name} does not exist`);
  return limit;
}

function prefix(text: string): Prefix {
  const parsed = ipv4Prefix(text);
  if (parsed === undefined) throw new CannotWork(`target ${text} is no IPv4 prefix`);
  return { address: ipv4Text(parsed.address), 'prefix-len': parsed.length };
}
