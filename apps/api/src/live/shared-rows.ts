import type { RowSet, View } from '../view/rows.js';

/**
 * Rows of a menu, shared by subscriptions: a request during a reading, or one that accepts the age of the last reading, gets the
 * same rows. Many subscriptions to one menu that are due in one turn of the event loop cost as much as one.
 */
export class SharedRows {
  readonly #view: View;
  #pending: Promise<RowSet> | undefined;
  /** Last reading, kept only while it is evaluated, as it may be large. */
  #last: { readonly rows: WeakRef<RowSet>; readonly askedAt: number } | undefined;

  constructor(view: View) {
    this.#view = view;
  }

  /** Rows of a reading of at most this age, ms. */
  async read(maxAgeMs = 0): Promise<RowSet> {
    const last = this.#last;
    const known = last !== undefined && performance.now() - last.askedAt < maxAgeMs ? last.rows.deref() : undefined;
    return known ?? this.#pending ?? this.#begin(maxAgeMs);
  }

  /** Drops the reading, because its sources have changed. */
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
