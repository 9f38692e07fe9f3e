import type { DataplaneConfig } from '@tollway/dataplane-agent';

/**
 * Incremental encoding of messages. Each change sends the whole configuration, most of which is the same objects as before:
 * only new objects are encoded, the others are copied from a cache.
 */

/** Encodes a value without cached fragments. */
type Encode = (value: unknown) => Buffer;

/** Encoded fragments by object. Those objects are immutable: the compiler creates new ones instead. */
const fragments = new WeakMap<object, Buffer>();

/**
 * How each section of a configuration is encoded: as a `whole`, with its `rows` as fragments, or with those of the chains
 * `inside` it.
 */
const SECTIONS: Readonly<Record<keyof DataplaneConfig, 'whole' | 'rows' | 'inside'>> = {
  format: 'whole',
  settings: 'whole',
  tracking: 'whole',
  interfaces: 'whole',
  addresses: 'whole',
  routes: 'whole',
  'routing-tables': 'whole',
  'routing-rules': 'whole',
  neighbors: 'whole',
  'address-lists': 'whole',
  filter: 'inside',
  nat: 'inside',
  mangle: 'inside',
  'ipv6-address-lists': 'whole',
  'ipv6-filter': 'inside',
  'ipv6-nat': 'inside',
  'ipv6-mangle': 'inside',
  'mark-names': 'whole',
  'queue-types': 'whole',
  'simple-queues': 'rows',
  'tree-queues': 'whole',
  'interface-queues': 'whole',
};

const sections = (encoded: 'rows' | 'inside'): string[] =>
  Object.entries(SECTIONS).flatMap(([name, how]) => (how === encoded ? [name] : []));

/** Names of the arrays whose elements are fragments. */
const FRAGMENT_ARRAYS = new Set(['rules', ...sections('rows')]);

/** Names of the fields that contain such arrays; all others are encoded as a whole. */
const FRAGMENT_CONTAINERS = new Set(['body', 'config', ...sections('inside')]);

/** Appends the encoding of a value whose arrays named in `FRAGMENT_ARRAYS` hold fragments (msgpack specification: map, array, str). */
export function encodeFragments(value: unknown, encode: Encode, out: Buffer[]): void {
  if (Array.isArray(value)) {
    out.push(arrayHead(value.length));
    for (const item of value) encodeFragments(item, encode, out);
    return;
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) {
    out.push(encode(value));
    return;
  }
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  out.push(mapHead(fields.length));
  for (const [name, field] of fields) {
    out.push(encode(name));
    if (FRAGMENT_ARRAYS.has(name) && Array.isArray(field)) {
      out.push(arrayHead(field.length));
      for (const fragment of field) out.push(fragmentOf(fragment, encode));
    } else if (typeof field === 'object' && field !== null && FRAGMENT_CONTAINERS.has(name))
      encodeFragments(field, encode, out);
    else out.push(encode(field));
  }
}

function fragmentOf(value: object, encode: Encode): Buffer {
  let fragment = fragments.get(value);
  if (fragment === undefined) {
    // A copy, as the encoder reuses its buffer.
    fragment = Buffer.from(encode(value));
    fragments.set(value, fragment);
  }
  return fragment;
}

function arrayHead(length: number): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0xdd;
  head.writeUInt32BE(length, 1);
  return head;
}

function mapHead(length: number): Buffer {
  const head = Buffer.alloc(3);
  head[0] = 0xde;
  head.writeUInt16BE(length, 1);
  return head;
}
