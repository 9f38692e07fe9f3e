/**
 * Protection against unintended clicks: an element that appears under a resting pointer (the next toast after a click
 * on the one before) ignores presses for a delay, or until the pointer has left it. Pure.
 */

/** Length of the delay, ms. */
const DELAY_MS = 1000;

export class ActivationDelay {
  /** The element under the pointer; undefined for none of those that are protected. */
  #under: string | undefined;
  #until = Number.NEGATIVE_INFINITY;

  /** Tells of a change of the page, with the element that is under the pointer now. */
  changed(under: string | undefined, now: number): void {
    if (under === this.#under) return;
    this.#under = under;
    this.#until = now + DELAY_MS;
  }

  /** Tells of a move of the pointer, with the element under it. */
  moved(under: string | undefined): void {
    if (under === this.#under) return;
    this.#under = under;
    this.#until = Number.NEGATIVE_INFINITY;
  }

  /** Whether presses on the element under the pointer are ignored at this time. */
  isActive(now: number): boolean {
    return this.#under !== undefined && now < this.#until;
  }
}
