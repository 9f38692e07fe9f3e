import { Packr } from 'msgpackr';
import { MAX_FRAME } from './messages.js';

/** Counters beyond 2^53 lose their last digits (9 PB); maps are plain objects with the agent's own keys. */
const codec = new Packr({ useRecords: false, int64AsType: 'number', variableMapSize: true });

/** A message as it goes on the wire: 32-bit little-endian length, msgpack. */
export function encodeFrame(message: unknown): Buffer {
  const body = codec.pack(integers(message));
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUInt32LE(body.length, 0);
  body.copy(frame, 4);
  return frame;
}

/**
 * The same message with whole numbers of more than 32 bits as `bigint`: the codec writes numbers of that size
 * as floats, which the agent does not take for integers. What holds none is returned itself.
 */
function integers(value: unknown): unknown {
  if (typeof value === 'number') {
    return Math.abs(value) > 0x7fff_ffff && Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map(integers);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let wide: Record<string, unknown> | undefined;
  for (const [name, item] of Object.entries(value)) {
    const converted = integers(item);
    if (converted === item) continue;
    wide ??= { ...value };
    wide[name] = converted;
  }
  return wide ?? value;
}

/** Cuts a byte stream into messages. */
export class FrameDecoder {
  #chunks: Buffer[] = [];
  #buffered = 0;

  /**
   * Takes bytes and returns the messages that are complete.
   * @throws Error when a frame is longer than `MAX_FRAME` or is no msgpack: the stream is of no more use.
   */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const messages: unknown[] = [];
    for (let length = this.#peekLength(); length !== undefined; length = this.#peekLength()) {
      if (length > MAX_FRAME) throw new Error(`frame of ${length} bytes`);
      if (this.#buffered < 4 + length) break;
      const bytes = this.#take(4 + length);
      messages.push(codec.unpack(bytes.subarray(4)));
    }
    return messages;
  }

  #peekLength(): number | undefined {
    if (this.#buffered < 4) return undefined;
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= 4) return first.readUInt32LE(0);
    return this.#join().readUInt32LE(0);
  }

  #take(length: number): Buffer {
    const all = this.#join();
    this.#buffered -= length;
    this.#chunks = this.#buffered > 0 ? [all.subarray(length)] : [];
    return all.subarray(0, length);
  }

  #join(): Buffer {
    const [first, ...more] = this.#chunks;
    const all = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}
