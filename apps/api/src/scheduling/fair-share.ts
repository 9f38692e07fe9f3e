/** A place that is taken. */
export interface Place {
  /** To whom it counts. */
  user: number;
  readonly leave: () => void;
}

interface Taken extends Place {
  /** Ends when what the place was used for has ended. */
  readonly giveUp: () => Promise<void>;
}

/**
 * The few places that something has, shared by all users. When none is free, whoever has more of them than another gives
 * one up to him, until both have as many; so one user may have all as long as nobody else asks.
 */
export class FairShare {
  readonly #most: number;
  /** In the order in which they were taken. */
  readonly #taken = new Set<Taken>();

  /** @param most places that there are. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Takes a place, if need be from a user who has more of them: after he has given it up.
   * @param giveUp called when it goes to another user; it need not be left then.
   * @returns the place; undefined when there is none for this user.
   */
  async take(user: number, giveUp: () => Promise<void>): Promise<Place | undefined> {
    const other = this.#taken.size < this.#most ? undefined : this.#tooMany(user);
    if (other === undefined && this.#taken.size >= this.#most) return undefined;
    if (other !== undefined) this.#taken.delete(other);
    const place: Taken = { user, giveUp, leave: () => this.#taken.delete(place) };
    this.#taken.add(place);
    await other?.giveUp();
    return place;
  }

  /** The place that was taken last by the user who has most, if he has more than this one will have. */
  #tooMany(user: number): Taken | undefined {
    const places = [...this.#taken];
    const of = (one: number) => places.filter((place) => place.user === one);
    const most = places.map((place) => of(place.user)).reduce((a, b) => (b.length > a.length ? b : a), []);
    return most.length > of(user).length + 1 ? most.at(-1) : undefined;
  }
}
