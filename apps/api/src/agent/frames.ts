import { MAX_FRAME } from '@tollway/dataplane-agent/records';
import { Packr } from 'msgpackr';
import { encodeFragments } from './fragments.js';

/** Counters beyond 2^53 lose their last digits (9 PB); maps are plain objects with the agent's own keys. */
const codec = new Packr({ useRecords: false, int64AsType: 'number', variableMapSize: true });

/** A message as it goes on the wire: 32-bit little-endian length, msgpack. */
export function encodeFrame(message: unknown): Buffer {
  const parts: Buffer[] = [Buffer.alloc(4)];
  encodeFragments(message, (value) => codec.pack(integers(value)), parts);
  const frame = Buffer.concat(parts);
  frame.writeUInt32LE(frame.length - 4, 0);
  return frame;
}

/**
 * The message with integers of more than 32 bits as `bigint`: the codec writes such numbers as floats, which the agent does
 * not accept as integers. A value without any is returned itself.
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

/** Size of the length before each message, bytes. */
const HEAD = 4;

/** Splits a byte stream into messages. Chunks of a long message are copied as they arrive. */
export class FrameDecoder {
  readonly #head = Buffer.alloc(HEAD);
  #headFilled = 0;
  #body: Buffer | undefined;
  #bodyFilled = 0;

  /**
   * Takes bytes and returns the messages that are complete.
   * @throws Error when a frame is longer than `MAX_FRAME` or is no msgpack: the stream cannot be continued.
   */
  push(chunk: Buffer): unknown[] {
    const messages: unknown[] = [];
    for (let at = 0; at < chunk.length; ) {
      if (this.#body === undefined) {
        const copied = chunk.copy(this.#head, this.#headFilled, at);
        this.#headFilled += copied;
        at += copied;
        if (this.#headFilled < HEAD) break;
        this.#headFilled = 0;
        const length = this.#head.readUInt32LE(0);
        if (length === 0 || length > MAX_FRAME) throw new Error(`frame of ${length} bytes`);
        this.#body = Buffer.allocUnsafe(length);
        this.#bodyFilled = 0;
      }
      const copied = chunk.copy(this.#body, this.#bodyFilled, at);
      this.#bodyFilled += copied;
      at += copied;
      if (this.#bodyFilled === this.#body.length) {
        messages.push(codec.unpack(this.#body));
        this.#body = undefined;
      }
    }
    return messages;
  }
}
