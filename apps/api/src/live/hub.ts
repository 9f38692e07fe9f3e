import { randomBytes } from 'node:crypto';
import { SESSION_OVER } from '@tollway/protocol/live/limits';
import type { ProfileUpdate } from '@tollway/protocol/live/profile';
import type { Status } from '@tollway/protocol/live/status';
import type { TrafficSample } from '@tollway/protocol/live/traffic';
import { menuByPath } from '@tollway/schema';
import type { WebSocket } from 'ws';
import type { Principal } from '../auth/authenticator.js';
import type { Arguments } from '../config/content.js';
import { UserQueues } from '../scheduling/user-queues.js';
import type { Services } from '../services.js';
import { identityOf } from '../snapshot/identity.js';
import { showsStoredRows } from '../snapshot/storage.js';
import type { Alarms } from '../state/alarms.js';
import type { CpuLoad } from '../state/cpu-load.js';
import { CellQuota } from './cell-quota.js';
import { LiveClient, type LiveSources } from './client.js';
import type { MessageSink } from './menu-feed.js';
import { ProfileSource } from './profile-source.js';
import { Sampler } from './sampler.js';
import { SharedRows } from './shared-rows.js';
import { readStatus } from './status.js';
import { TokenBucketFeed } from './token-bucket-feed.js';
import { type SendTrace, TraceFeed } from './trace-feed.js';
import { Traffic } from './traffic.js';
import { type WatchedQueue, WatchedRows } from './watched-queue.js';

/** Interval at which clients are pinged and sessions are checked, ms. */
const HEARTBEAT_MS = 15_000;
/** Payload of a ping. */
const PING_BYTES = 8;
/** Time limit for the client's close frame, ms. */
const CLOSE_TIMEOUT_MS = 500;
/** Maximum number of connections of one user; a browser opens one for each tab. */
const MAX_PER_USER = 32;
/** Close code for a connection beyond that maximum: try again later (RFC 6455 §7.4.1, IANA). */
const TOO_MANY = 1013;

/** Whether the rows of a menu follow from the configuration. */
const showsConfiguration = (path: string): boolean => {
  const menu = menuByPath(path);
  return menu !== undefined && menu.undoable !== false && showsStoredRows(menu);
};

interface Connection {
  readonly client: LiveClient;
  readonly principal: Principal;
  /** Payload of the unanswered ping: a client that reads its messages returns it (RFC 6455 §5.5.3). */
  pinged: Buffer | undefined;
}

/** All live connections and their shared state. */
export class Hub implements LiveSources {
  readonly rows: ReadonlyMap<string, SharedRows>;
  readonly cellQuota = new CellQuota();
  readonly traffic: Traffic;
  readonly trafficSampler: Sampler<TrafficSample>;
  readonly profileSampler: Sampler<ProfileUpdate>;
  readonly statusSampler: Sampler<Status>;
  readonly #services: Services;
  readonly #watchedRows: WatchedRows;
  readonly #dryRuns = new UserQueues();
  readonly #connections = new Map<WebSocket, Connection>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #stopRecording: () => void;

  /** @param earlier samples of traffic of an earlier process, oldest first */
  constructor(
    services: Services,
    cpuLoad: CpuLoad,
    alarms: Alarms,
    onError: (error: unknown) => void,
    earlier: readonly TrafficSample[] = [],
  ) {
    const { store, live, users, sessions } = services;
    this.#services = services;
    this.#watchedRows = new WatchedRows(live.agent);
    this.rows = new Map([...services.views].map(([path, view]) => [path, new SharedRows(view)]));
    this.traffic = new Traffic(live, cpuLoad, earlier);
    const profile = new ProfileSource(live);
    this.trafficSampler = new Sampler(() => this.traffic.take(), onError);
    // Samples are recorded without viewers, so that graphs show the time before they were opened. It costs one small
    // request a second.
    this.#stopRecording = this.trafficSampler.listen(() => undefined);
    this.profileSampler = new Sampler(() => profile.take(), onError);
    this.statusSampler = new Sampler(
      () => readStatus(store, live, cpuLoad, identityOf(store.snapshot), alarms),
      onError,
    );
    store.onCommit(() => {
      // Any menu may be affected: names occur in other menus, and rules become valid again.
      this.#refreshMenus(showsConfiguration);
      this.statusSampler.sampleNow();
    });
    users.onChange((id) => {
      this.#refreshMenus((path) => menuByPath(path)?.logins === true);
      this.statusSampler.sampleNow();
      this.#closeWhere(
        ({ principal }) => principal.userId === id && !this.#services.authenticator.isStillAuthorized(principal),
      );
    });
    sessions.onEnd((key) => this.#closeWhere(({ principal }) => principal.session === key));
    live.agent.onUp(() => this.statusSampler.sampleNow());
    live.agent.onDown(() => this.statusSampler.sampleNow());
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  accept(socket: WebSocket, principal: Principal): void {
    if (this.clientsOf(principal.userId).length >= MAX_PER_USER) {
      socket.close(TOO_MANY, `at most ${MAX_PER_USER} connections of one user`);
      terminateAfterTimeout(socket);
      return;
    }
    const connection: Connection = {
      client: new LiveClient(socket, this, principal.userId),
      principal,
      pinged: undefined,
    };
    this.#connections.set(socket, connection);
    // The password may have changed, or the session ended, while the connection was being opened.
    if (!this.#services.authenticator.isStillAuthorized(principal)) endSession(socket, connection);
    socket.on('pong', (payload) => {
      if (connection.pinged?.equals(payload)) connection.pinged = undefined;
    });
    socket.on('close', () => this.#connections.delete(socket));
  }

  clientsOf(user: number): readonly LiveClient[] {
    const own: LiveClient[] = [];
    for (const { client, principal } of this.#connections.values()) if (principal.userId === user) own.push(client);
    return own;
  }

  person(user: number): { readonly name: string; readonly group: string } | undefined {
    const { name, group } = this.#services.users.byId(user) ?? {};
    return name === undefined || group === undefined ? undefined : { name, group };
  }

  tokenBucket(sink: MessageSink, id: number, user: number, watched: WatchedQueue): TokenBucketFeed {
    const rows = { user, watch: (row: number) => this.#watchedRows.watch(row, user) };
    return new TokenBucketFeed(this.#services.store, sink, id, watched, rows);
  }

  trace(user: number, dry: boolean, args: Arguments, send: SendTrace): TraceFeed {
    return new TraceFeed(this.#services, this.#dryRuns, user, dry, args, send);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#stopRecording();
    for (const [socket, { client }] of this.#connections) {
      client.close(1001, 'the router is restarting');
      terminateAfterTimeout(socket);
    }
  }

  #refreshMenus(affected: (path: string) => boolean): void {
    for (const [path, rows] of this.rows) if (affected(path)) rows.forget();
    for (const { client } of this.#connections.values()) client.refreshMenus(affected);
  }

  #beat(): void {
    for (const [socket, connection] of this.#connections) {
      if (!this.#services.authenticator.isStillAuthorized(connection.principal)) endSession(socket, connection);
      else if (connection.pinged !== undefined) socket.terminate();
      else {
        connection.pinged = randomBytes(PING_BYTES);
        socket.ping(connection.pinged);
      }
    }
  }

  #closeWhere(over: (connection: Connection) => boolean): void {
    for (const [socket, connection] of this.#connections) if (over(connection)) endSession(socket, connection);
  }
}

function endSession(socket: WebSocket, { client }: Connection): void {
  client.close(SESSION_OVER, 'the session is over');
  terminateAfterTimeout(socket);
}

/** Ends a connection when the client does not answer its close frame in time. */
function terminateAfterTimeout(socket: WebSocket): void {
  setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
}
