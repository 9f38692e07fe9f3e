/**
 * What comes under a pointer that rests, such as the message after the one whose button was pressed, takes no press for a
 * moment, or until the pointer has left it: the press was meant for what was there before. Pure.
 */

/** For so long it takes none, ms. */
const HELD_MS = 1000;

export class Resting {
  /** What is under the pointer; undefined for nothing that counts. */
  #under: string | undefined;
  #until = Number.NEGATIVE_INFINITY;

  /** The page has changed: something may have come under the pointer. */
  changed(under: string | undefined, now: number): void {
    if (under === this.#under) return;
    this.#under = under;
    this.#until = now + HELD_MS;
  }

  /** The pointer has moved. */
  moved(under: string | undefined): void {
    if (under === this.#under) return;
    this.#under = under;
    this.#until = Number.NEGATIVE_INFINITY;
  }

  /** Whether a press means something else. */
  isHeld(now: number): boolean {
    return this.#under !== undefined && now < this.#until;
  }
}
