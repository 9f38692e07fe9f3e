/**
 * The page's WebSocket to `/live`. Subscriptions survive reconnects: after each one they are sent again and begin with
 * a new snapshot. The delay of a reconnect is 0.25 s and doubles up to 2 s.
 */

import type { ClientMessage, Subscription as Request } from '@tollway/protocol/live/client-messages';
import { SESSION_OVER } from '@tollway/protocol/live/limits';
import type { RowQueryPart } from '@tollway/protocol/live/row-query';
import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import { isObject } from './rest.ts';

/** A subscription: the present request and the receiver of its messages. */
interface Subscription {
  request: Request;
  readonly receive: (message: ServerMessage) => void;
  readonly onReconnect: (() => void) | undefined;
  /** Whether the request has been sent at least once. */
  sent: boolean;
}

/** A running subscription. */
export interface SubscriptionHandle {
  /** Replaces parts of the request (`first`, `count`, `sort`, `filter`, `find`) and sends them to the server. */
  update(part: RowQueryPart): void;
  close(): void;
}

/**
 * `open`: connected; `lost`: a connection was lost or could not be established; `closed`: no connection is wanted, or
 * the server has ended the session.
 */
export type SocketState = 'closed' | 'connecting' | 'open' | 'lost';

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 2000;

/** Delay before retry number `attempt` (from 0), ms. */
export function retryDelay(attempt: number): number {
  return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt);
}

export class LiveSocket {
  readonly #url: () => string;
  readonly #onLost: () => void;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #listeners = new Set<() => void>();
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #nextId = 1;
  #state: SocketState = 'closed';
  /** Time of the last message, by `performance.now()`; 0 before the first one since {@link open}. */
  lastMessageAt = 0;

  /**
   * @param url returns the URL; called at each attempt to connect
   * @param onLost called after each failed or lost connection, to check whether the session is still valid
   */
  constructor(url: () => string, onLost: () => void) {
    this.#url = url;
    this.#onLost = onLost;
  }

  get state(): SocketState {
    return this.#state;
  }

  /** Calls `listener` when {@link state} changes. */
  onState(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  open(): void {
    if (this.#socket !== undefined || this.#timer !== undefined) return;
    // The age of messages of an earlier connection is irrelevant.
    this.lastMessageAt = 0;
    this.#connect();
  }

  /** Disconnects without reconnecting; subscriptions are kept, and sent again by the next {@link open}. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#attempt = 0;
    this.#enter('closed');
  }

  /**
   * @param onReconnect called before the first message of a new connection, which does not continue those of the
   * previous one
   */
  subscribe(request: Request, receive: (message: ServerMessage) => void, onReconnect?: () => void): SubscriptionHandle {
    const id = this.#nextId++;
    const sent = this.#send({ op: 'subscribe', id, ...request });
    const subscription: Subscription = { request, receive, onReconnect, sent };
    this.#subscriptions.set(id, subscription);
    return {
      update: (part) => {
        subscription.request = { ...subscription.request, ...part };
        this.#send({ op: 'window', id, ...part });
      },
      close: () => {
        if (this.#subscriptions.delete(id)) this.#send({ op: 'unsubscribe', id });
      },
    };
  }

  #enter(state: SocketState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  /** Sends a message; false without a connection. */
  #send(message: ClientMessage): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #connect(): void {
    this.#timer = undefined;
    if (this.#state !== 'lost') this.#enter('connecting');
    const socket = new WebSocket(this.#url());
    this.#socket = socket;
    socket.onopen = () => {
      this.#attempt = 0;
      this.lastMessageAt = performance.now();
      this.#enter('open');
      for (const [id, subscription] of this.#subscriptions) {
        if (subscription.sent) subscription.onReconnect?.();
        subscription.sent = true;
        this.#send({ op: 'subscribe', id, ...subscription.request });
      }
    };
    socket.onmessage = (event) => {
      this.lastMessageAt = performance.now();
      if (typeof event.data === 'string') this.#dispatch(event.data);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      const over = code === SESSION_OVER;
      this.#enter(over ? 'closed' : 'lost');
      this.#onLost();
      // Listeners close this socket when the session has ended, unless a user has logged in again.
      this.#timer = setTimeout(() => this.#connect(), over ? LAST_RETRY_MS : retryDelay(this.#attempt++));
    };
  }

  #dispatch(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (!isMessage(message) || message.id === undefined) return;
    this.#subscriptions.get(message.id)?.receive(message);
  }
}

/**
 * Only checks that the value is an object with an operation: the router's messages match the schemas of the protocol.
 */
const isMessage = (value: unknown): value is ServerMessage =>
  isObject(value) && typeof value.op === 'string' && (value.id === undefined || typeof value.id === 'number');
