/** A live topic with one subscription that several parts of the page share. It is active while there are listeners. */

import type { Subscription } from '@tollway/protocol/live/client-messages';
import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import type { LiveSocket, SubscriptionHandle } from './socket.ts';

export class Topic {
  readonly #socket: Pick<LiveSocket, 'subscribe'>;
  readonly #request: Subscription;
  readonly #receive: (message: ServerMessage) => void;
  readonly #listeners = new Set<() => void>();
  #handle: SubscriptionHandle | undefined;

  /** @param receive processes each message before the listeners are called */
  constructor(socket: Pick<LiveSocket, 'subscribe'>, request: Subscription, receive: (message: ServerMessage) => void) {
    this.#socket = socket;
    this.#request = request;
    this.#receive = receive;
  }

  /** Calls `changed` after each message; returns the function that stops it. */
  listen(changed: () => void): () => void {
    // The same listener may be added twice; each registration is removed separately.
    const listener = () => changed();
    this.#listeners.add(listener);
    this.#handle ??= this.#socket.subscribe(this.#request, (message) => {
      this.#receive(message);
      for (const each of this.#listeners) each();
    });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#handle?.close();
      this.#handle = undefined;
    };
  }
}
