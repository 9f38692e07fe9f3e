import type { LogMessage } from './message.js';
import type { MemorySettings } from './settings.js';

/**
 * Maximum delay between the time of a message of the data plane and its arrival, ms; beyond it a clock was set back.
 */
const LATE_MS = 10_000;
/** Size limit of a buffer per message of its capacity, bytes; at least {@link BUFFER_BYTES} in total. */
const MESSAGE_BYTES = 512;
export const BUFFER_BYTES = 1 << 20;
/** Estimated size of a message without its texts, bytes. */
const OVERHEAD_BYTES = 128;
/** Number of unused elements at the start of the list above which the list is compacted. */
const MAX_GONE = 1_024;

/** A message in a buffer. */
export interface HeldMessage extends LogMessage {
  /** Number in the order of arrival, unique over all buffers, never reused. */
  readonly id: number;
  readonly buffer: { readonly name: string };
}

/** Order of two messages. Messages of the data plane may arrive late, after a loss of the connection. */
function isBefore(a: HeldMessage, b: HeldMessage): boolean {
  const apart = a.timeMs - b.timeMs;
  return apart === 0 || Math.abs(apart) > LATE_MS ? a.id < b.id : apart < 0;
}

/** Messages of two buffers, merged in order. */
export function merged(some: readonly HeldMessage[], others: readonly HeldMessage[]): readonly HeldMessage[] {
  if (some.length === 0) return others;
  const all: HeldMessage[] = [];
  let at = 0;
  for (const other of others) {
    for (let one = some[at]; one !== undefined && isBefore(one, other); one = some[at]) {
      all.push(one);
      at += 1;
    }
    all.push(other);
  }
  for (; at < some.length; at += 1) {
    const one = some[at];
    if (one !== undefined) all.push(one);
  }
  return all;
}

/** The newest messages of an action of target `memory`. */
export class MemoryBuffer {
  /** Oldest first, from {@link #first} on. */
  readonly #messages: HeldMessage[] = [];
  #first = 0;
  #bytes = 0;
  #settings: MemorySettings;
  /** Name of the logging action. */
  name: string;

  constructor(name: string, settings: MemorySettings) {
    this.name = name;
    this.#settings = settings;
  }

  /** Applies new limits, and keeps the newest messages within them. */
  set settings(settings: MemorySettings) {
    this.#settings = settings;
    this.#trim();
  }

  add(id: number, { timeMs, topics, text }: LogMessage): void {
    if (this.#settings.stopOnFull && this.#isFull()) return;
    const message: HeldMessage = { id, timeMs, topics, text, buffer: this };
    let at = this.#messages.length;
    for (; at > this.#first; at -= 1) {
      const before = this.#messages[at - 1];
      if (before !== undefined && isBefore(before, message)) break;
    }
    if (at === this.#messages.length) this.#messages.push(message);
    else this.#messages.splice(at, 0, message);
    this.#bytes += bytesOf(message);
    this.#trim();
  }

  clear(): void {
    this.#messages.length = 0;
    this.#first = 0;
    this.#bytes = 0;
  }

  /** Oldest first. */
  messages(): readonly HeldMessage[] {
    return this.#messages.slice(this.#first);
  }

  get #count(): number {
    return this.#messages.length - this.#first;
  }

  get #maxBytes(): number {
    return Math.max(BUFFER_BYTES, this.#settings.lines * MESSAGE_BYTES);
  }

  #isFull(): boolean {
    return this.#count >= this.#settings.lines || this.#bytes >= this.#maxBytes;
  }

  #trim(): void {
    while (this.#count > this.#settings.lines || this.#bytes > this.#maxBytes) {
      const oldest = this.#messages[this.#first];
      if (oldest === undefined) break;
      this.#bytes -= bytesOf(oldest);
      this.#first += 1;
    }
    if (this.#first < MAX_GONE || this.#first < this.#count) return;
    this.#messages.splice(0, this.#first);
    this.#first = 0;
  }
}

const bytesOf = ({ topics, text }: LogMessage): number => OVERHEAD_BYTES + 2 * (topics.length + text.length);
