import { UserSemaphore } from '../scheduling/user-semaphore.js';

/** Bodies up to this size are not counted, bytes. */
const SMALL = 16 << 10;

/**
 * Memory for bodies of requests: many large ones at once would exhaust it. The limit per user is at least the largest body.
 */
export class BodyMemory {
  /** Bytes that are being received, or wait to be parsed. */
  readonly #taken = new UserSemaphore(128 << 20, 32 << 20);
  /** Bytes parsed as JSON, until the request is answered: the values take up to thirty times as much. */
  readonly #read = new UserSemaphore(16 << 20, 8 << 20);

  /** Waits for memory for a body of this size. Its sender waits meanwhile. */
  async acquire(user: number, bytes: number, gone: AbortSignal): Promise<void> {
    if (bytes > SMALL) await this.#taken.acquire(user, bytes, gone);
  }

  /** Waits for the memory that reading the body takes. */
  async read(user: number, bytes: number, gone: AbortSignal): Promise<void> {
    if (bytes > SMALL) await this.#read.acquire(user, bytes, gone);
  }
}
