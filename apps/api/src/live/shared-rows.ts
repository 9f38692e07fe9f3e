import type { RowSet, View } from '../view/rows.js';

/**
 * Rows of a menu, shared by subscriptions. A request during a reading, or one that accepts the age of the last reading,
 * gets the same rows. So many subscriptions to one menu in one turn of the event loop cost one reading.
 */
export class SharedRows {
  readonly #view: View;
  #pending: Promise<RowSet> | undefined;
  /** Last reading. A weak reference, as it may be large and is needed only while it is evaluated. */
  #last: { readonly rows: WeakRef<RowSet>; readonly askedAt: number } | undefined;

  constructor(view: View) {
    this.#view = view;
  }

  /** Rows of a reading that is at most this old, ms. */
  async read(maxAgeMs = 0): Promise<RowSet> {
    const last = this.#last;
    const known = last !== undefined && performance.now() - last.askedAt < maxAgeMs ? last.rows.deref() : undefined;
    return known ?? this.#pending ?? this.#begin(maxAgeMs);
  }

  /** Discards the last reading, because its sources have changed. */
  forget(): void {
    this.#last = undefined;
    this.#pending = undefined;
  }

  #begin(maxAgeMs: number): Promise<RowSet> {
    const askedAt = performance.now();
    const pending = this.#view(maxAgeMs)
      .then((rows) => {
        if (this.#pending === pending) this.#last = { rows: new WeakRef(rows), askedAt };
        return rows;
      })
      .finally(() => {
        if (this.#pending === pending) this.#pending = undefined;
      });
    this.#pending = pending;
    return pending;
  }
}
