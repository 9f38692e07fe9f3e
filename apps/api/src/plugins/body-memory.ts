import { UserSemaphore } from '../scheduling/user-semaphore.js';

/** Bodies up to this size are not counted, bytes. */
const SMALL = 16 << 10;

/**
 * Limits the memory for bodies of requests, as many large ones at a time would exhaust it. The limit per user is at
 * least the maximum size of a body.
 */
export class BodyMemory {
  /** Size of the bodies that are being received or wait to be parsed, bytes. */
  readonly #taken = new UserSemaphore(128 << 20, 32 << 20);
  /**
   * Size of the bodies that were parsed as JSON and whose requests have no response yet, bytes: the values take up to
   * thirty times this size.
   */
  readonly #read = new UserSemaphore(16 << 20, 8 << 20);

  /** Waits for memory for a body of this size. The client waits meanwhile. */
  async acquire(user: number, bytes: number, gone: AbortSignal): Promise<void> {
    if (bytes > SMALL) await this.#taken.acquire(user, bytes, gone);
  }

  /** Waits for the memory that parsing the body takes. */
  async read(user: number, bytes: number, gone: AbortSignal): Promise<void> {
    if (bytes > SMALL) await this.#read.acquire(user, bytes, gone);
  }
}
