import type { Report } from './message.js';

/** Interval of reports about dropped messages while the destination works, ms. */
const DROPS_MS = 60_000;

/** Logs once that a destination fails, and later that it works again, with the number of dropped messages. */
export class Reports {
  readonly #report: Report;
  #isFailing = false;
  #dropped = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(report: Report) {
    this.#report = report;
  }

  /** @param text the failure, and its effect on messages */
  fails(text: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#report('error', text);
  }

  dropped(count = 1): void {
    this.#dropped += count;
  }

  works(): void {
    const dropped = `${this.#dropped} ${this.#dropped === 1 ? 'message was' : 'messages were'} dropped`;
    if (this.#isFailing) {
      this.#isFailing = false;
      this.#report('info', this.#dropped > 0 ? `works again; ${dropped}` : 'works again');
    } else if (this.#dropped > 0 && performance.now() - this.#saidAt >= DROPS_MS) {
      this.#saidAt = performance.now();
      this.#report('warning', `${dropped} because they came too fast`);
    } else return;
    this.#dropped = 0;
  }
}
