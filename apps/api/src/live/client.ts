import { setTimeout as sleep } from 'node:timers/promises';
import type { ProfileUpdate } from '@tollway/protocol/live/profile';
import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import type { Status } from '@tollway/protocol/live/status';
import type { TrafficSample } from '@tollway/protocol/live/traffic';
import type { Menu } from '@tollway/schema';
import type { WebSocket } from 'ws';
import type { Arguments } from '../config/content.js';
import { Cancelled, requestTurn } from '../scheduling/time-slicer.js';
import type { CellQuota } from './cell-quota.js';
import { ConditionError, columnTest } from './condition.js';
import { MenuFeed, type MessageSink } from './menu-feed.js';
import { type ClientMessage, MessageError, readMessage } from './message.js';
import type { RowQuery } from './row-query.js';
import type { Sampler } from './sampler.js';
import type { SharedRows } from './shared-rows.js';
import { TokenBucketFeed } from './token-bucket-feed.js';
import type { SendTrace, TraceFeed } from './trace-feed.js';
import type { Traffic } from './traffic.js';
import type { WatchedQueue } from './watched-queue.js';

/** Number of bytes waiting to be sent above which live values are skipped. */
const BUSY_BYTES = 256 << 10;
/**
 * Number of bytes waiting to be sent above which no further messages of the client are handled. It is larger than
 * {@link BUSY_BYTES}, so that handling resumes before live values are sent again.
 */
const PAUSE_BYTES = 512 << 10;
/** Interval of checks whether a slow client has caught up, ms. */
const BUSY_MS = 100;
/** Number of bytes waiting to be sent above which the client is disconnected. */
const TERMINATE_BYTES = 16 << 20;
/** Maximum number of subscriptions of one connection. */
const MAX_SUBSCRIPTIONS = 64;
/** Maximum number of subscriptions of one user on all connections: enough for a dozen pages full of windows. */
const MAX_OF_USER = 512;
/**
 * Maximum number of token bucket subscriptions among those: each costs a hundred times as much as another subscription.
 */
const MAX_TOKEN_BUCKETS_OF_USER = 32;

interface Subscription {
  close(): void;
}

/** Sources of the topics of a connection, and look-ups about its user. */
export interface LiveSources {
  /** Rows of each menu, by path. */
  readonly rows: ReadonlyMap<string, SharedRows>;
  readonly cellQuota: CellQuota;
  readonly traffic: Traffic;
  readonly trafficSampler: Sampler<TrafficSample>;
  readonly profileSampler: Sampler<ProfileUpdate>;
  readonly statusSampler: Sampler<Status>;
  /** The connections of one user. */
  clientsOf(user: number): readonly Pick<LiveClient, 'subscriptions' | 'tokenBuckets'>[];
  /** Current name and group of a user; undefined for a removed one. */
  person(user: number): { readonly name: string; readonly group: string } | undefined;
  /** Starts the feed of a queue's token bucket for one connection. */
  tokenBucket(sink: MessageSink, id: number, user: number, watched: WatchedQueue): TokenBucketFeed;
  /** Starts the feed of a packet trace for one connection. */
  trace(user: number, dry: boolean, args: Arguments, send: SendTrace): TraceFeed;
}

/** One browser connection and its subscriptions. */
export class LiveClient implements MessageSink {
  readonly #socket: WebSocket;
  readonly #sources: LiveSources;
  readonly #user: number;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #end = new AbortController();
  /** Number of messages that wait to be handled. */
  #waiting = 0;
  /** Resolves when the last waiting message has been handled. */
  #last = Promise.resolve();

  /** @param user id of the user who opened the connection */
  constructor(socket: WebSocket, sources: LiveSources, user: number) {
    this.#socket = socket;
    this.#sources = sources;
    this.#user = user;
    socket.on('message', (data, binary) => {
      const text = binary ? undefined : String(data);
      // Further messages stay in the socket until these have been handled.
      this.#waiting += 1;
      socket.pause();
      this.#last = this.#last
        .then(() => this.#receive(text))
        .finally(() => {
          this.#waiting -= 1;
          if (this.#waiting === 0) socket.resume();
        });
    });
    socket.on('close', () => this.#closeAll());
    socket.on('error', () => socket.terminate());
  }

  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Number of token bucket subscriptions. */
  get tokenBuckets(): number {
    return [...this.#subscriptions.values()].filter((subscription) => subscription instanceof TokenBucketFeed).length;
  }

  get ready(): boolean {
    return this.#socket.bufferedAmount < BUSY_BYTES;
  }

  send(message: ServerMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > TERMINATE_BYTES) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message));
  }

  /** Re-evaluates the affected subscriptions after a change of the configuration. */
  refreshMenus(affected: (path: string) => boolean): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription instanceof MenuSubscription && affected(subscription.menu.path)) subscription.feed.refresh();
    }
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  /**
   * Handles a message in a turn of its user, like a request, so that a user with many connections does not delay
   * others.
   */
  async #receive(text: string | undefined): Promise<void> {
    try {
      // No further messages of a client are handled until it has read its messages.
      while (this.#socket.bufferedAmount > PAUSE_BYTES && !this.#end.signal.aborted) await sleep(BUSY_MS);
      await requestTurn(this.#end.signal, this.#user);
      if (text === undefined) throw new MessageError('messages are JSON texts, not binary');
      this.#handle(readMessage(text));
    } catch (error) {
      if (error instanceof Cancelled) return;
      if (!(error instanceof MessageError)) throw error;
      const { id, message: detail, condition } = error;
      this.send({ op: 'error', ...(id !== undefined && { id }), detail, ...(condition && { condition }) });
    }
  }

  #handle(message: ClientMessage): void {
    const { id } = message;
    switch (message.op) {
      case 'unsubscribe':
        this.#subscriptions.get(id)?.close();
        this.#subscriptions.delete(id);
        return;
      case 'window': {
        const subscription = this.#subscriptions.get(id);
        if (!(subscription instanceof MenuSubscription)) throw new MessageError(`no subscription ${id} on a menu`, id);
        checkFilter(subscription.menu, message.query, id);
        subscription.feed.setQuery(message.query);
        return;
      }
      case 'subscribe':
        if (this.#subscriptions.has(id)) throw new MessageError(`id ${id} is in use`, id);
        if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
          throw new MessageError(`at most ${MAX_SUBSCRIPTIONS} subscriptions`, id);
        }
        this.#requireRoom(message);
        this.#subscriptions.set(id, this.#subscribe(message));
        return;
    }
  }

  /** @throws MessageError when the user is at the limit. */
  #requireRoom({ id, topic }: ClientMessage & { op: 'subscribe' }): void {
    const own = this.#sources.clientsOf(this.#user);
    const sum = (count: 'subscriptions' | 'tokenBuckets') => own.reduce((sum, client) => sum + client[count], 0);
    if (sum('subscriptions') >= MAX_OF_USER) {
      throw new MessageError(`at most ${MAX_OF_USER} subscriptions of one user at once; close other windows`, id);
    }
    if (topic === 'token-bucket' && sum('tokenBuckets') >= MAX_TOKEN_BUCKETS_OF_USER) {
      throw new MessageError(`at most ${MAX_TOKEN_BUCKETS_OF_USER} token buckets are shown to one user at once`, id);
    }
  }

  #subscribe(message: ClientMessage & { op: 'subscribe' }): Subscription {
    const { id } = message;
    switch (message.topic) {
      case 'menu': {
        const rows = this.#sources.rows.get(message.menu.path);
        if (rows === undefined) throw new MessageError(`${message.menu.path} cannot be listed`, id);
        checkFilter(message.menu, message.query, id);
        const reservation = this.#sources.cellQuota.reserve(this.#user);
        const feed = new MenuFeed(
          id,
          message.menu,
          (maxAgeMs) => rows.read(maxAgeMs),
          message.query,
          message.intervalMs,
          this,
          reservation,
        );
        return new MenuSubscription(message.menu, feed);
      }
      case 'traffic':
        this.send({ id, op: 'history', samples: this.#sources.traffic.history() });
        return this.#listen(
          this.#sources.trafficSampler.listen((sample) => this.#tick({ id, op: 'sample', ...sample })),
        );
      case 'token-bucket':
        return this.#sources.tokenBucket(this, id, this.#user, message);
      case 'trace':
        return this.#sources.trace(this.#user, message.dry === true, message.arguments, (answer) =>
          this.send({ id, ...answer }),
        );
      case 'profile':
        return this.#listen(
          this.#sources.profileSampler.listen((update) => this.#tick({ id, op: 'profile', ...update }), true),
        );
      case 'status':
        return this.#listen(
          this.#sources.statusSampler.listen((status) => {
            this.#tick({ id, op: 'status', ...status, user: this.#sources.person(this.#user) });
          }, true),
        );
    }
  }

  #tick(message: ServerMessage): void {
    if (this.ready) this.send(message);
  }

  #listen(stop: () => void): Subscription {
    return { close: stop };
  }

  #closeAll(): void {
    this.#end.abort();
    for (const subscription of this.#subscriptions.values()) subscription.close();
    this.#subscriptions.clear();
  }
}

class MenuSubscription implements Subscription {
  constructor(
    readonly menu: Menu,
    readonly feed: MenuFeed,
  ) {}

  close(): void {
    this.feed.close();
  }
}

/** @throws MessageError for a condition that is wrong for its column. */
function checkFilter(menu: Menu, { filter = [] }: Partial<RowQuery>, id: number): void {
  for (const condition of filter) {
    try {
      columnTest(menu, condition);
    } catch (error) {
      throw error instanceof ConditionError ? new MessageError(error.message, id, condition) : error;
    }
  }
}
