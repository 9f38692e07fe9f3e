import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { isLoopback, networkOf } from '../auth/address.js';
import { errorBody } from '../errors.js';
import { type Parsing, parseInChunks } from './chunked-parsing.js';
import { brokenRequest } from './errors.js';
import {
  anonymousToEvict,
  anonymousToEvictAmong,
  type Evictable,
  idleToEvict,
  loggedInToEvict,
  type Network,
} from './eviction.js';
import { RequestScheduler } from './request-scheduler.js';

/** Limits of connections. */
export interface ConnectionLimits {
  /**
   * Maximum number of connections; together with the other files of the process they must fit into 1,024 descriptors.
   */
  readonly total: number;
  /** Number of further connections for this machine and for addresses with a logged-in user. */
  readonly reserved: number;
  /** Limit per address (of IPv6, one /64) that is no proxy. */
  readonly perAddress: number;
  /** Limit per user, applied when all connections are in use and no other user has more. */
  readonly perUser: number;
  /**
   * Maximum number of requests of one connection that wait for their responses. A further request ends the connection
   * after the responses.
   */
  readonly pipelined: number;
  /** Time limit until the headers of a request are complete, ms. */
  readonly headersMs: number;
  /** Time limit until a request is complete, ms. */
  readonly requestMs: number;
  /** Time limit until the body of a request that needs no login is complete, ms. */
  readonly publicBodyMs: number;
  /** Time limit of a connection without a request, ms. */
  readonly idleMs: number;
  /** Time limit while the client does not read a response, ms. */
  readonly stalledMs: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  total: 800,
  reserved: 64,
  perAddress: 256,
  perUser: 48,
  pipelined: 4,
  headersMs: 10_000,
  requestMs: 60_000,
  publicBodyMs: 10_000,
  idleMs: 15_000,
  stalledMs: 20_000,
};

/** Interval at which Node checks for requests that take too long, ms. */
const CHECK_MS = 1_000;
/** Maximum number of addresses that are remembered as those of logged-in users. */
const MAX_TRUSTED = 1_000;

const ANSWERED = Promise.resolve();

interface Connection extends Evictable {
  readonly socket: Socket;
  readonly network: Network<Connection>;
  pending: number;
  quietSince: number;
  /** Resolves when the last request of the connection has been answered. */
  answered: Promise<void>;
  /** The newest request, and a promise that resolves when the requests before it have been answered. */
  last: { readonly request: IncomingMessage; readonly before: Promise<void> } | undefined;
  user: number | undefined;
  live: boolean;
  readonly parsing: Parsing;
  /** True when the client has sent too many requests: no more are accepted. */
  full: boolean;
}

/**
 * The HTTP server's connections. When there are too many, connections without a login are closed first, in the order of
 * {@link anonymousToEvict}, then connections of the user with the most, if they are very many.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #isProxy: (address: string) => boolean;
  /** Oldest first. */
  readonly #open = new Map<Socket, Connection>();
  readonly #networks = new Map<string, Network<Connection>>();
  readonly #trusted = new Set<string>();
  readonly #turns = new RequestScheduler<Socket>();

  /** @param isProxy whether an address is a proxy, whose connections may belong to any number of users */
  constructor(limits: ConnectionLimits = CONNECTION_LIMITS, isProxy: (address: string) => boolean = () => false) {
    this.#limits = limits;
    this.#isProxy = isProxy;
  }

  /** The server for {@link RequestListener}; give this to the framework. */
  readonly serve = (handler: RequestListener): Server => {
    const { headersMs, requestMs, idleMs, stalledMs } = this.#limits;
    const serve = (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const before = this.#admit(request, response);
      if (before === undefined) return;
      const begin = () =>
        this.#turns.begin(socket, () => {
          if (!socket.destroyed) handler(request, response);
        });
      // RFC 9112 §9.3.2: of pipelined requests only those with safe methods may be processed in parallel.
      if (before === ANSWERED) begin();
      else void before.then(begin);
    };
    const server = createServer(
      {
        connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
        headersTimeout: headersMs,
        requestTimeout: requestMs,
        keepAliveTimeout: idleMs,
        // A missing header is refused with our own response, see requestOrigin().
        requireHostHeader: false,
      },
      serve,
    );
    // Node's default response has another format, and would not be counted.
    server.on('checkExpectation', serve);
    server.on('connection', (socket) => this.#accept(socket));
    server.on('upgrade', ({ socket }) => {
      const connection = this.#open.get(socket);
      if (connection === undefined) return;
      connection.parsing.end();
      // The socket still belongs to the previous response: this request could be neither answered nor cancelled.
      if (connection.pending > 0) {
        const close = () => this.#close(connection);
        void connection.answered.then(close);
        setTimeout(close, stalledMs).unref();
      } else connection.live = true;
    });
    server.setTimeout(stalledMs, (socket: Socket) => {
      const connection = this.#open.get(socket);
      // There is no time limit while a response is being computed, but there is one while the client does not read it.
      if (connection === undefined || connection.pending === 0 || socket.writableLength > 0) socket.destroy();
      else socket.setTimeout(stalledMs);
    });
    return server;
  };

  /** Answers invalid HTTP, after the requests before it on the connection. */
  readonly broken = (error: NodeJS.ErrnoException, socket: Socket): void => {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.pending === 0 || error.code === 'ECONNRESET' || !socket.writable) {
      brokenRequest(error, socket);
      return;
    }
    const { answered, last } = connection;
    // The error may be in the body of the newest request.
    const before = last === undefined || last.request.complete ? answered : last.before;
    void before.then(() => {
      // The previous response may have closed the connection.
      if (socket.writable) brokenRequest(error, socket);
    });
  };

  /** Records the user who was authenticated on this connection. */
  authenticated(socket: Socket, user: number): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.user === user) return;
    const { network } = connection;
    if (connection.user === undefined && network.connections.has(connection)) network.anonymous -= 1;
    connection.user = user;
    this.#trusted.delete(network.name);
    this.#trusted.add(network.name);
    for (const oldest of this.#trusted) {
      if (this.#trusted.size <= MAX_TRUSTED) break;
      this.#trusted.delete(oldest);
    }
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const name = networkOf(address);
    if (!this.#makeRoom(address, name)) {
      socket.destroy();
      return;
    }
    const network = this.#networks.get(name) ?? {
      name,
      isProxy: this.#isProxy(address),
      connections: new Set(),
      anonymous: 0,
    };
    const connection: Connection = {
      socket,
      network,
      pending: 0,
      quietSince: performance.now(),
      answered: ANSWERED,
      last: undefined,
      user: undefined,
      live: false,
      parsing: parseInChunks(socket),
      full: false,
    };
    this.#open.set(socket, connection);
    network.connections.add(connection);
    network.anonymous += 1;
    this.#networks.set(name, network);
    socket.setMaxListeners(0);
    socket.once('close', () => this.#forget(connection));
  }

  /** Whether there is room for one more connection of this address, after another one was closed if necessary. */
  #makeRoom(address: string, name: string): boolean {
    const { total, reserved, perAddress, perUser } = this.#limits;
    const own = this.#networks.get(name);
    if (own !== undefined && own.connections.size >= perAddress && !own.isProxy) {
      const { connections } = own;
      return this.#close(
        anonymousToEvictAmong(connections) ?? loggedInToEvict(connections, perUser) ?? idleToEvict(connections),
      );
    }
    if (this.#open.size < total) return true;
    const isKnown = (network: Network<Connection>) => this.#trusted.has(network.name);
    const stranger = anonymousToEvict(this.#networks.values(), this.#open.values(), isKnown);
    if (this.#close(stranger ?? loggedInToEvict(this.#open.values(), perUser))) return true;
    return (isLoopback(address) || this.#trusted.has(name)) && this.#open.size < total + reserved;
  }

  #close(connection: Connection | undefined): boolean {
    if (connection === undefined) return false;
    this.#forget(connection);
    connection.socket.destroy();
    return true;
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection.socket);
    this.#turns.forget(connection.socket);
    const { network, user } = connection;
    if (!network.connections.delete(connection)) return;
    if (user === undefined) network.anonymous -= 1;
    if (network.connections.size === 0) this.#networks.delete(network.name);
  }

  /**
   * Counts a request until it is answered. Resolves when the previous requests have been answered: {@link ANSWERED} if
   * none is pending. Returns undefined for a request above the limit: it is answered here, and later ones are not
   * answered.
   */
  #admit(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const connection = this.#open.get(request.socket);
    if (connection === undefined || connection.full || request.socket.destroyed) return undefined;
    connection.full = connection.pending >= this.#limits.pipelined;
    const before = connection.pending === 0 ? ANSWERED : connection.answered;
    connection.last = { request, before };
    connection.pending += 1;
    connection.answered = new Promise((resolve) => {
      response.once('close', () => {
        connection.pending -= 1;
        connection.quietSince = performance.now();
        resolve();
      });
    });
    if (connection.full) {
      connection.parsing.ignoreRest();
      response.writeHead(429, { 'content-type': 'application/json; charset=utf-8', connection: 'close' });
      const detail = `no more than ${this.#limits.pipelined} requests of a connection can wait for their answers; send this one and those behind it again`;
      response.end(JSON.stringify(errorBody(429, detail)));
    }
    return connection.full ? undefined : before;
  }
}

/**
 * Ends a stream when its connection ends. Node notifies only the response that is being sent: responses to pipelined
 * requests behind it would never close their files.
 */
export function endStreams(app: FastifyInstance): void {
  app.addHook('onSend', async (request, _reply, payload) => {
    if (payload instanceof Readable) {
      const { socket } = request.raw;
      const end = () => payload.destroy();
      if (socket.destroyed) end();
      socket.once('close', end);
      payload.once('close', () => socket.off('close', end));
    }
    return payload;
  });
}
