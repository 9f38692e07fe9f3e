/** A number of bytes that requests may take, in all and those of one user. Whoever comes when it is full waits. */
export class Room {
  readonly #most: number;
  readonly #mostOfUser: number;
  #all = 0;
  readonly #byUser = new Map<number, number>();
  /** In the order in which they came. */
  readonly #line = new Set<{ readonly user: number; readonly bytes: number; readonly enter: () => void }>();

  constructor(most: number, mostOfUser: number) {
    this.#most = most;
    this.#mostOfUser = mostOfUser;
  }

  /**
   * Waits for room and takes it.
   * @param gone aborted when it is given back, or no longer waited for.
   */
  enter(user: number, bytes: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = {
        user,
        bytes,
        enter: () => {
          this.#add(user, bytes);
          gone.removeEventListener('abort', forget);
          gone.addEventListener('abort', () => {
            this.#add(user, -bytes);
            this.#advance();
          });
          resolve();
        },
      };
      const forget = () => {
        this.#line.delete(waiting);
        this.#advance();
      };
      if (gone.aborted) return;
      gone.addEventListener('abort', forget);
      this.#line.add(waiting);
      this.#advance();
    });
  }

  /** Those of one user wait for each other, and nobody else waits for them as long as there is room in all. */
  #advance(): void {
    for (const waiting of this.#line) {
      const { user, bytes, enter } = waiting;
      if ((this.#byUser.get(user) ?? 0) + bytes > this.#mostOfUser) continue;
      if (this.#all + bytes > this.#most) return;
      this.#line.delete(waiting);
      enter();
    }
  }

  #add(user: number, bytes: number): void {
    this.#all += bytes;
    const sum = (this.#byUser.get(user) ?? 0) + bytes;
    if (sum === 0) this.#byUser.delete(user);
    else this.#byUser.set(user, sum);
  }
}

/** Bodies up to this size are not counted, bytes. */
const SMALL = 16 << 10;

/**
 * The room that bodies of requests have: many large ones at once would fill the memory. Each limit for one user must hold
 * the largest body.
 */
export class BodyRoom {
  /** Bytes that are being taken in, or wait to be read. */
  readonly #taken = new Room(128 << 20, 32 << 20);
  /** Bytes read as JSON, which then take up to thirty times as much, until the request is answered. */
  readonly #read = new Room(16 << 20, 8 << 20);

  /** Before a body of this size is taken in. Its sender waits meanwhile. */
  async take(user: number, bytes: number, gone: AbortSignal): Promise<void> {
    if (bytes > SMALL) await this.#taken.enter(user, bytes, gone);
  }

  /** Before it is read. */
  async read(user: number, bytes: number, gone: AbortSignal): Promise<void> {
    if (bytes > SMALL) await this.#read.enter(user, bytes, gone);
  }
}
