/** The changes that this page has made since it was loaded, for Ctrl+Z and Ctrl+Y. Pure. */

/** A change that can be undone. */
interface UndoableChange {
  readonly revision: number;
  /** `Removed 3 items from Filter Rules.` */
  readonly text: string;
}

/** A change without a response: whether it was made, and can be undone, is unknown. */
interface UnconfirmedChange {
  readonly revision: undefined;
  /** `Remove 3 items from Filter Rules` */
  readonly text: string;
}

export class UndoStack {
  #done: readonly (UndoableChange | UnconfirmedChange)[] = [];
  #undone: readonly UndoableChange[] = [];
  /** Revisions of which an attempt to undo them has failed. */
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

  /** Notes a change that was tried, and may have been done. It stands before what is older until it is {@link dismiss}ed. */
  pushUnconfirmed(text: string): void {
    this.#done = [...this.#done, { revision: undefined, text }];
  }

  /** Forgets a change of unknown outcome after the user was informed. */
  dismiss(unconfirmed: UnconfirmedChange): void {
    this.#done = this.#done.filter((change) => change !== unconfirmed);
  }

  /** The newest change that has not been undone, or may not have been. */
  get last(): UndoableChange | UnconfirmedChange | undefined {
    return this.#done.at(-1);
  }

  /** The change that was undone last, with the revision of the undo. */
  get lastUndone(): UndoableChange | undefined {
    return this.#undone.at(-1);
  }

  /** Records that the revision `by` has undone a revision. An undo of that is a redo. */
  recordUndo(revision: number, by: number | undefined, text: string): void {
    const again = this.#undone.some((change) => change.revision === revision);
    this.drop(revision);
    if (by === undefined) return;
    if (again) this.#done = [...this.#done, { revision: by, text }];
    else this.#undone = [...this.#undone, { revision: by, text }];
    this.#notify();
  }

  /** The undo of a revision has failed. It stays the next one: what is older counts on the rows before it. */
  recordFailure(revision: number): void {
    this.#failed = new Set([...this.#failed, revision]);
  }

  /** Whether an attempt has failed; one without an answer may have been done all the same. */
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
