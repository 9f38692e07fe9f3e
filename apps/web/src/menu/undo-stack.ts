/** Changes that this page has made since it was loaded, for Ctrl+Z and Ctrl+Y. Pure. */

/** A change that can be undone. */
interface UndoableChange {
  readonly revision: number;
  /** `Removed 3 items from Filter Rules.` */
  readonly text: string;
}

/** A change without a response: it is unknown whether it was made. */
interface UnconfirmedChange {
  readonly revision: undefined;
  /** `Remove 3 items from Filter Rules` */
  readonly text: string;
}

export class UndoStack {
  #done: readonly (UndoableChange | UnconfirmedChange)[] = [];
  #undone: readonly UndoableChange[] = [];
  /** Revisions whose undo has failed. */
  #failed: ReadonlySet<number> = new Set();
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` whenever the list of changes has changed. Returns the function that stops it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Records a change. Earlier undone changes can then no longer be redone by key. */
  push(change: UndoableChange): void {
    this.#done = [...this.#done, change];
    this.#undone = [];
    this.#notify();
  }

  /** Records a change that may have been made. It precedes older changes until it is {@link dismiss}ed. */
  pushUnconfirmed(text: string): void {
    this.#done = [...this.#done, { revision: undefined, text }];
  }

  /** Removes a change of unknown outcome after the user was informed. */
  dismiss(unconfirmed: UnconfirmedChange): void {
    this.#done = this.#done.filter((change) => change !== unconfirmed);
  }

  /** The newest change that has not been undone, or might not have been. */
  get last(): UndoableChange | UnconfirmedChange | undefined {
    return this.#done.at(-1);
  }

  /** The change that was undone last; its revision is that of the undo. */
  get lastUndone(): UndoableChange | undefined {
    return this.#undone.at(-1);
  }

  /** Records that the revision `by` has undone a revision. Undoing `by` is a redo. */
  recordUndo(revision: number, by: number | undefined, text: string): void {
    const again = this.#undone.some((change) => change.revision === revision);
    this.drop(revision);
    if (by === undefined) return;
    if (again) this.#done = [...this.#done, { revision: by, text }];
    else this.#undone = [...this.#undone, { revision: by, text }];
    this.#notify();
  }

  /**
   * Records that the undo of a revision has failed. It remains the next one to undo, as older changes depend on its
   * rows.
   */
  recordFailure(revision: number): void {
    this.#failed = new Set([...this.#failed, revision]);
  }

  /** Whether an attempt has failed. An attempt without a response may have succeeded nevertheless. */
  hasFailed(revision: number): boolean {
    return this.#failed.has(revision);
  }

  /** Whether a revision is a change of this page that can be undone or redone by key. */
  has(revision: number): boolean {
    return [...this.#done, ...this.#undone].some((change) => change.revision === revision);
  }

  /** Removes a revision, after its undo or when the user keeps it. */
  drop(revision: number): void {
    this.#failed = new Set([...this.#failed].filter((each) => each !== revision));
    this.#done = this.#done.filter((change) => change.revision !== revision);
    this.#undone = this.#undone.filter((change) => change.revision !== revision);
    this.#notify();
  }

  clear(): void {
    this.#done = [];
    this.#undone = [];
    this.#failed = new Set();
    this.#notify();
  }
}
