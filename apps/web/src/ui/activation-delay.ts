/**
 * Protection against unintended clicks: an element that appears under a resting pointer (for instance the next toast
 * after a click on the previous one) ignores presses for a delay, or until the pointer has left it. Pure.
 */

/** Length of the delay, ms. */
const DELAY_MS = 1000;

export class ActivationDelay {
  /** The protected element under the pointer; undefined for none. */
  #under: string | undefined;
  #until = Number.NEGATIVE_INFINITY;

  /** Must be called after a change of the page, with the element that is now under the pointer. */
  changed(under: string | undefined, now: number): void {
    if (under === this.#under) return;
    this.#under = under;
    this.#until = now + DELAY_MS;
  }

  /** Must be called when the pointer has moved, with the element under it. */
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
