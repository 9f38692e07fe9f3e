/** A slot in use. */
export interface Slot {
  /** The user to whose share the slot counts. */
  user: number;
  readonly release: () => void;
}

interface TakenSlot extends Slot {
  /** Revokes the slot. Resolves when its use has ended. */
  readonly revoke: () => Promise<void>;
}

/**
 * Max-min fair sharing of a limited number of slots among users. When no slot is free, a request takes one from the
 * user with the most slots, if that user has more than the requesting user would get. So one user may use all slots
 * while nobody else requests any.
 */
export class FairShare {
  readonly #capacity: number;
  /** Slots in the order in which they were taken. */
  readonly #taken = new Set<TakenSlot>();

  /** @param capacity number of slots. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Takes a slot. If none is free, the slot of a user who has more is revoked.
   * @param revoke called when the slot is given to another user; `release` need not be called then.
   * @returns undefined when there is no slot for this user.
   */
  async take(user: number, revoke: () => Promise<void>): Promise<Slot | undefined> {
    const other = this.#taken.size < this.#capacity ? undefined : this.#revocable(user);
    if (other === undefined && this.#taken.size >= this.#capacity) return undefined;
    if (other !== undefined) this.#taken.delete(other);
    const slot: TakenSlot = { user, revoke, release: () => this.#taken.delete(slot) };
    this.#taken.add(slot);
    await other?.revoke();
    return slot;
  }

  /** The newest slot of the user with the most slots, if these are more than `user` would have. */
  #revocable(user: number): TakenSlot | undefined {
    const slots = [...this.#taken];
    const of = (one: number) => slots.filter((slot) => slot.user === one);
    const largest = slots.map((slot) => of(slot.user)).reduce((a, b) => (b.length > a.length ? b : a), []);
    return largest.length > of(user).length + 1 ? largest.at(-1) : undefined;
  }
}
