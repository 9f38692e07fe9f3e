/** Lines kept; the oldest go first. */
export const LOG_LINES = 2_000;

export interface LogLine {
  /** Ascending, never reused while the process lives. */
  readonly id: number;
  readonly timeMs: number;
  /** Comma list, e.g. `system,info`. */
  readonly topics: string;
  readonly message: string;
}

/** What `/log` shows: lines of the data plane and of the API itself. */
export class LogBook {
  readonly #lines: LogLine[] = [];
  #nextId = 1;

  add(topics: string, message: string, timeMs = Date.now()): void {
    this.#lines.push({ id: this.#nextId, timeMs, topics, message });
    this.#nextId += 1;
    if (this.#lines.length > LOG_LINES) this.#lines.shift();
  }

  /** Oldest first. */
  lines(): readonly LogLine[] {
    return this.#lines;
  }
}
