/** Lines kept; the oldest go first. */
export const LOG_LINES = 2_000;
/** How much later than they were written lines of the data plane may come, ms; beyond that a clock was set back. */
const LATE_MS = 10_000;
/** What they may take, bytes; the oldest go first. */
export const LOG_BYTES = 1 << 20;
/** Longest line, characters. */
const MAX_MESSAGE = 2_048;
/** What a line takes beside its texts, bytes, estimated. */
const LINE_BYTES = 128;

export interface LogLine {
  /** In the order in which lines came to be known, never reused. */
  readonly id: number;
  readonly timeMs: number;
  /** Comma list, e.g. `system,info`. */
  readonly topics: string;
  readonly message: string;
}

/** A text in which whatever does not show as itself is written as an escape: a line of the log stays one line. */
export const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);

/** What `/log` shows: lines of the data plane and of the API itself. */
export class LogBuffer {
  readonly #lines: LogLine[] = [];
  #bytes = 0;
  #nextId: number;

  /** @param firstId above that of every line of a process before: a page that stays open must not take one for another */
  constructor(firstId = 1) {
    this.#nextId = firstId;
  }

  add(topics: string, message: string, timeMs = Date.now()): void {
    const text = printable(message.slice(0, MAX_MESSAGE)).slice(0, MAX_MESSAGE);
    const line = { id: this.#nextId, timeMs, topics, message: text };
    this.#nextId += 1;
    this.#lines.splice(this.#placeOf(timeMs), 0, line);
    this.#bytes += bytesOf(line);
    while (this.#lines.length > LOG_LINES || this.#bytes > LOG_BYTES) {
      const oldest = this.#lines.shift();
      if (oldest === undefined) break;
      this.#bytes -= bytesOf(oldest);
    }
  }

  /** Where a line of that time belongs. What the data plane did while nobody listened is known only afterwards. */
  #placeOf(timeMs: number): number {
    let at = this.#lines.length;
    for (; at > 0; at -= 1) {
      const after = (this.#lines[at - 1]?.timeMs ?? 0) - timeMs;
      if (after <= 0 || after > LATE_MS) break;
    }
    return at;
  }

  /** Oldest first. */
  lines(): readonly LogLine[] {
    return this.#lines;
  }
}

const bytesOf = ({ topics, message }: LogLine): number => LINE_BYTES + 2 * (topics.length + message.length);
