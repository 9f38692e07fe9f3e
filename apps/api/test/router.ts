import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ErrorBody } from '@tollway/protocol/errors';
import type { FastifyInstance } from 'fastify';
import { expect, vi } from 'vitest';
import { AgentSocket } from '../src/agent/socket.js';
import { type AppOptions, buildApp } from '../src/app.js';
import { SetupToken } from '../src/auth/setup-token.js';
import { type Database, openDatabase } from '../src/database/client.js';
import { migrate, readMigrations } from '../src/database/migrate.js';
import { AgentPeer } from './agent-peer.js';

// Deadlines only catch what hangs: the machine may be busy with other tests.
vi.setConfig({ hookTimeout: 600_000 });

export const PASSWORD = 'correct horse';
/**
 * For tests of many rows or many writers, which are not about the time that a write may take: the agent's peer is in the same
 * process, and shares its core with other tests.
 */
export const LONG_WRITES: Partial<AppOptions> = { writeWaitMs: 60_000 };
const migrations = fileURLToPath(new URL('../../../prisma/migrations/', import.meta.url));

type Item = Readonly<Record<string, string>>;

const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Answer to a request. A test that expects an item, a list or an error and gets something else fails. */
export class Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;

  constructor({ status, headers }: Response, body: unknown) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** The one item of the answer. */
  get item(): Item {
    if (!isObject(this.body) || 'error' in this.body) throw this.#unexpected('an item');
    return this.body;
  }

  /** `.id` of the item. */
  get id(): string {
    return this.item['.id'] ?? '';
  }

  /** The list that was answered. */
  get rows(): readonly Item[] {
    if (!Array.isArray(this.body) || !this.body.every(isObject)) throw this.#unexpected('a list');
    return this.body;
  }

  get error(): ErrorBody {
    const { body } = this;
    if (!isObject(body) || !('error' in body)) throw this.#unexpected('an error');
    return { message: '', ...body, error: Number(body.error), setup: String(body.setup) === 'true' };
  }

  #unexpected(what: string): Error {
    return new Error(`not ${what}: ${this.status} ${JSON.stringify(this.body)}`);
  }
}

/** The API on an ephemeral port, with a database of its own. */
export class Router {
  readonly directory: string;
  readonly socket: string;
  readonly peer: AgentPeer | undefined;
  app!: FastifyInstance;
  db!: Database;
  writer!: Database;
  counts!: Database;
  accounts!: Database;
  url!: string;
  #options: Partial<AppOptions>;
  readonly #host: string;

  private constructor(directory: string, withPeer: boolean, options: Partial<AppOptions>, host: string) {
    this.#host = host;
    this.directory = directory;
    this.socket = join(directory, 'agent.sock');
    this.peer = withPeer ? new AgentPeer(this.socket) : undefined;
    this.#options = options;
  }

  /** Starts with a peer for the agent unless `withPeer` is false. */
  static async start(options: Partial<AppOptions> = {}, withPeer = true, host = '127.0.0.1'): Promise<Router> {
    const router = new Router(await mkdtemp(join(tmpdir(), 'tollway-api-')), withPeer, options, host);
    await router.peer?.start();
    await router.open();
    if (withPeer) await router.healthy();
    return router;
  }

  async open(): Promise<void> {
    const url = `file:${join(this.directory, 'tollway.db')}`;
    await migrate(url, await readMigrations(migrations));
    this.db = openDatabase(url);
    this.writer = openDatabase(url);
    this.counts = openDatabase(url);
    this.accounts = openDatabase(url);
    this.app = await buildApp({
      db: this.db,
      writer: this.writer,
      counts: this.counts,
      accounts: this.accounts,
      agent: (log) => new AgentSocket(this.socket, log),
      setup: new SetupToken(join(this.directory, 'setup-token')),
      dataDir: this.directory,
      defaults: 'none',
      accountingDays: 400,
      adminPassword: PASSWORD,
      names: [],
      trustedProxies: [],
      webRoot: undefined,
      echo: () => undefined,
      logLevel: 'silent',
      ...this.#options,
    });
    await this.app.listen({ host: this.#host, port: 0 });
    const { port } = this.app.server.address() as AddressInfo;
    this.url = `http://${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${port}`;
  }

  /** Stops the API, keeping database and peer. */
  async shut(): Promise<void> {
    await this.app.close();
    await Promise.all([this.db, this.writer, this.counts, this.accounts].map((client) => client.$disconnect()));
  }

  async close(): Promise<void> {
    await this.shut();
    await this.peer?.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  async healthy(timeoutMs = 10_000): Promise<void> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      if ((await fetch(`${this.url}/healthz`)).ok) return;
      if (Date.now() > end) throw new Error('not healthy in time');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** A request as the admin, by Basic. */
  async rest(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
    return this.request(method, `/rest${path}`, body, { authorization, ...headers });
  }

  /** Adds an item that must be accepted. @returns its id */
  async add(menu: string, body: Record<string, string>): Promise<string> {
    const answer = await this.rest('PUT', menu, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.id;
  }

  /** A request that must be refused as wrong. @returns why it was */
  async refused(method: string, path: string, body?: Record<string, string>): Promise<string> {
    const answer = await this.rest(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    return answer.error.detail ?? '';
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json');
    return new Answer(response, json ? JSON.parse(text) : text);
  }
}
