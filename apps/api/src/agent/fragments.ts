/**
 * Incremental encoding of messages. Each change sends the whole configuration, most of which is the same objects as before:
 * only new objects are encoded, the others are copied from a cache.
 */

/** Encodes a value without cached pieces. */
type Encode = (value: unknown) => Buffer;

/** Encoded pieces by object. Those objects are immutable: the compiler creates new ones instead. */
const pieces = new WeakMap<object, Buffer>();

/** Names of the arrays whose elements are pieces. */
const PIECES = new Set(['rules', 'simple-queues']);

/** Appends the encoding of a value whose arrays named in `PIECES` hold pieces (msgpack specification: map, array, str). */
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
    if (PIECES.has(name) && Array.isArray(field)) {
      out.push(arrayHead(field.length));
      for (const piece of field) out.push(pieceOf(piece, encode));
    } else if (typeof field === 'object' && field !== null && DEEP.has(name)) encodeFragments(field, encode, out);
    else out.push(encode(field));
  }
}

/** Names of the fields that contain such arrays; all others are encoded as a whole. */
const DEEP = new Set(['body', 'config', 'filter', 'nat', 'mangle']);

function pieceOf(value: object, encode: Encode): Buffer {
  let piece = pieces.get(value);
  if (piece === undefined) {
    // A copy, as the encoder reuses its buffer.
    piece = Buffer.from(encode(value));
    pieces.set(value, piece);
  }
  return piece;
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
