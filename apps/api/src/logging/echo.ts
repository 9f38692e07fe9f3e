import { type Destination, datedLine, type LogMessage } from './message.js';

/** Writes messages to the output of the process; messages of one turn of the event loop are written together. */
export class Echo implements Destination {
  readonly #out: (text: string) => void;
  #lines: string[] = [];

  constructor(out: (text: string) => void) {
    this.#out = out;
  }

  write(message: LogMessage): void {
    if (this.#lines.length === 0) setImmediate(() => this.#flush());
    this.#lines.push(datedLine(message));
  }

  async close(): Promise<void> {
    this.#flush();
  }

  #flush(): void {
    if (this.#lines.length === 0) return;
    this.#out(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }
}
