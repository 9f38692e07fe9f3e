import { EventEmitter } from 'node:events';
import { AgentGone, AgentRefusal, AgentSilent, type DataplaneConfig } from '../agent/messages.js';
import type { AgentPort } from '../agent/port.js';
import type { Compile, Compiled } from '../compiler/compile.js';
import { digestOf } from '../compiler/digest.js';
import type { Database } from '../database/client.js';
import type { DatabaseWatch } from '../database/watch.js';
import { ApiError, errors } from '../errors.js';
import { Mutex } from '../scheduling/mutex.js';
import { rowIdText } from '../snapshot/snapshot.js';
import { AgentSync, type SyncState, timeLeft } from './agent-sync.js';
import { Draft, type RowChange, type StoredSnapshot } from './draft.js';
import { refuseBreakingOtherRules } from './jumps.js';
import type { ChecksByMenu } from './menu-checks.js';
import { refuseDanglingReferences } from './referential-integrity.js';
import { type Author, confirmed, type StoredConfig, writeRevision } from './revision-storage.js';

/**
 * Default time limit of each part of a write, ms: waiting for earlier writes, preparing and activating; preparing gets more
 * for each row.
 */
const WAIT_MS = 5_000;
/** More time for the agent to prepare a configuration, ms for each row of it. */
const PREPARE_MS_PER_ROW = 0.2;
/** Delay before the next attempt to bring a connected agent to the newest revision, ms. */
const RETRY_MS = 5_000;

export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Time that the agent gets to prepare a configuration because of its size, ms. */
const sizeMs = (snapshot: StoredSnapshot): number =>
  PREPARE_MS_PER_ROW * [...snapshot.values()].reduce((sum, rows) => sum + rows.length, 0);

/** Current offset of the router's clock from UTC, seconds. */
const utcOffsetS = (): number => -60 * new Date().getTimezoneOffset();

/** A revision, passed to listeners right after it was stored. */
export interface Committed {
  readonly revision: number;
  readonly author: Author;
  readonly summary: string;
  readonly changes: readonly RowChange[];
}

/** Result of an edit, with its revision. */
export interface Revised<T> {
  readonly result: T;
  /** Undefined when the edit changed nothing. */
  readonly revision: number | undefined;
}

/** An edit, which changes a draft of the newest snapshot. Edits run one at a time. */
export type Edit<T> = (draft: Draft) => T | Promise<T>;

/** Description of a change for people: a text, or a function of the result and the changes of the edit. */
export type Summary<T> = string | ((result: T, changes: readonly RowChange[]) => string);

/** The checks and compilers of all menus. */
interface ChecksAndCompiler {
  readonly checks: ChecksByMenu;
  readonly compile: Compile;
}

/**
 * The configuration. All of it is kept in memory; the database is the authoritative copy, and the agent runs it. Edits
 * run one at a time: each is verified, compiled, prepared by the agent, stored in a transaction, and activated.
 */
export class ConfigStore {
  readonly #writer: Database;
  readonly #agent: AgentPort;
  readonly #log: Log;
  readonly #mutex = new Mutex();
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #sync: AgentSync;
  /** Checks beyond the declarations of the menus. */
  readonly checks: ChecksByMenu;
  readonly #compile: Compile;
  readonly #watch: DatabaseWatch | undefined;
  #snapshot: StoredSnapshot;
  #revision: number;
  #lastId: number;
  #compiled: Compiled;
  /** Digest of the compiled configuration. */
  #digest: string;
  #scheduleReconcile = (): void => undefined;
  #closed = false;

  /** @param writer a database client that nothing else uses. */
  constructor(
    writer: Database,
    agent: AgentPort,
    log: Log,
    stored: StoredConfig,
    menus: ChecksAndCompiler,
    watch?: DatabaseWatch,
    /** Time limit of each part of a write, ms. */
    private readonly waitMs = WAIT_MS,
  ) {
    this.checks = menus.checks;
    this.#compile = menus.compile;
    this.#watch = watch;
    this.#writer = writer;
    this.#agent = agent;
    this.#log = log;
    this.#snapshot = stored.snapshot;
    this.#revision = stored.revision;
    this.#lastId = stored.lastId;
    this.#compiled = this.#compile(stored.snapshot, utcOffsetS());
    this.#digest = digestOf(this.#compiled.config);
    this.#sync = new AgentSync(agent, log, () => ({
      revision: this.#revision,
      config: this.#compiled.config,
      digest: this.#digest,
    }));
  }

  /**
   * Keeps the agent on the newest revision. `onSynced` is called whenever the agent gets there, and is retried when it
   * fails.
   */
  keepAgentSynced(onSynced: () => Promise<void>): void {
    let retryTimer: NodeJS.Timeout | undefined;
    let followed = true;
    let logged = '';
    const reconcile = () => {
      clearTimeout(retryTimer);
      this.#mutex
        .run(() => this.#sync.reconcile())
        .then(async () => {
          followed = false;
          await onSynced();
          followed = true;
          logged = '';
        })
        .catch((error: unknown) => {
          // The log already has a message about an agent that is ahead.
          if (error instanceof AgentGone || (error instanceof ApiError && followed) || this.#closed) return;
          if (String(error) !== logged) this.#log.error(String(error));
          logged = String(error);
        })
        .finally(later);
    };
    // The cause may be temporary: a full disk, a lost worker.
    const later = () => {
      clearTimeout(retryTimer);
      const wanted = ['behind', 'refused'].includes(this.#sync.state) || !followed;
      if (wanted && this.#agent.hello !== undefined && !this.#closed)
        retryTimer = setTimeout(reconcile, RETRY_MS).unref();
    };
    this.#scheduleReconcile = later;
    this.#agent.onUp(reconcile);
    this.#agent.onDown(() => clearTimeout(retryTimer));
    if (this.#agent.hello !== undefined) reconcile();
  }

  get snapshot(): StoredSnapshot {
    return this.#snapshot;
  }

  /** Highest row id ever given. */
  get lastId(): number {
    return this.#lastId;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Stored rows that are invalid: row id → reason. */
  get invalid(): ReadonlyMap<number, string> {
    return this.#compiled.invalid;
  }

  /** The compiled configuration. */
  get compiled(): DataplaneConfig {
    return this.#compiled.config;
  }

  /** Revision that the agent has in force; 0 before the first revision. */
  get activeRevision(): number {
    return this.#sync.active;
  }

  /**
   * @throws ApiError while the agent has a newer revision than the database: the database is then an old copy, and its
   * users may be outdated, too.
   */
  refuseIfAgentAhead(): void {
    this.#sync.refuseIfAhead();
  }

  get syncState(): SyncState {
    return this.#sync.state;
  }

  onCommit(listener: (committed: Committed) => void): () => void {
    this.#events.on('commit', listener);
    return () => this.#events.off('commit', listener);
  }

  /**
   * Changes the configuration by an edit, which may throw to refuse. An edit without changes makes no revision, unless
   * rules depend on the offset from UTC and the offset has changed.
   * @throws ApiError when nothing was stored: the configuration is invalid, the agent refuses it or is not connected,
   * it does not answer within 5 s plus 0.2 ms for each row, or earlier writes take more than 5 s.
   */
  async commit<T>(author: Author, summary: Summary<T>, edit: Edit<T>): Promise<T> {
    return (await this.revise(author, summary, edit)).result;
  }

  /**
   * Commits like {@link commit}, and also returns the number of the revision, if there is one.
   * @param undoes the revision that the edit undoes
   */
  revise<T>(author: Author, summary: Summary<T>, edit: Edit<T>, undoes?: number): Promise<Revised<T>> {
    const deadline = performance.now() + this.waitMs;
    const change = async (): Promise<Revised<T>> => {
      if (this.#closed) throw errors.stopping();
      author.confirm?.();
      const begun = performance.now();
      await this.#agentReady(deadline);
      // Time spent waiting for the agent reduces the limit for its answer; time spent computing does not.
      const waitedMs = performance.now() - begun;
      const nextId = () => {
        this.#lastId += 1;
        return this.#lastId;
      };
      const draft = new Draft(this.#snapshot, nextId, this.checks);
      const result = await edit(draft);
      const { snapshot, changes } = draft.finish();
      if (changes.length === 0 && !this.#clockMoved()) return { result, revision: undefined };
      // An undo may restore dangling references; it checks references itself.
      if (undoes === undefined) refuseDanglingReferences(changes, snapshot);
      const compiled = this.#compile(snapshot, utcOffsetS());
      const invalid = { before: this.#compiled.invalid, after: compiled.invalid };
      refuseBreakingOtherRules(this.checks, changes, invalid, snapshot);
      const revision = this.#revision + 1;
      this.#watch?.refuseIfFaulty();
      const token = await this.#prepare(revision, compiled.config, this.waitMs + sizeMs(snapshot), waitedMs);
      const text = typeof summary === 'string' ? summary : summary(result, changes);
      const digest = digestOf(compiled.config);
      let by: Author;
      try {
        by = confirmed(author);
        const lastId = this.#lastId;
        const revisionRow = { number: revision, author: by, summary: text, sha256: digest, changes, undoes, lastId };
        await writeRevision(this.#writer, revisionRow);
      } catch (error) {
        await this.#agent.request({ op: 'discard', token }, this.waitMs).catch(() => undefined);
        throw this.#watch?.recordError(error) ?? error;
      }
      this.#snapshot = snapshot;
      this.#revision = revision;
      this.#compiled = compiled;
      author.onRevision?.(revision);
      this.#digest = digest;
      await this.#activate(token, revision);
      const committed: Committed = { revision, author: by, summary: text, changes };
      this.#events.emit('commit', committed);
      return { result, revision };
    };
    const waitLimit = { ms: this.waitMs, error: () => errors.busy(this.waitMs) };
    return this.#mutex.run(change, waitLimit, author.name);
  }

  /** Refuses further changes. Resolves when the running change has been announced to all listeners, or has failed. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#mutex.run(async () => undefined);
  }

  /**
   * Recompiles the configuration when it depends on the time of day and the offset from UTC has changed (summer time).
   */
  async followClock(author: Author): Promise<void> {
    if (this.#clockMoved()) await this.commit(author, 'clock is at another offset from UTC', () => undefined);
  }

  #clockMoved(): boolean {
    const { utcOffsetS: used } = this.#compiled;
    return used !== undefined && used !== utcOffsetS();
  }

  /** @param deadline when to give up, by `performance.now()` */
  async #agentReady(deadline: number): Promise<void> {
    for (let silent = false; ; ) {
      const left = deadline - performance.now();
      if (left <= 0 || !(await this.#sync.connected(left))) {
        throw silent ? errors.agentSilent(this.waitMs) : errors.agentUnavailable();
      }
      try {
        await this.#sync.reconcile(deadline);
        return;
      } catch (error) {
        if (!(error instanceof AgentGone)) throw error;
        silent ||= error instanceof AgentSilent;
      }
    }
  }

  /**
   * Lets the agent prepare a configuration.
   * @param limitMs time limit, ms
   * @param waitedMs the part of the limit that was already spent waiting for the agent, ms
   */
  async #prepare(revision: number, config: DataplaneConfig, limitMs: number, waitedMs: number): Promise<number> {
    const deadline = performance.now() + limitMs - waitedMs;
    // One retry: the agent may already have been terminating. If it terminates again, this configuration is the cause.
    for (let tries = 2; tries > 0; tries -= 1) {
      try {
        const base = this.#sync.active;
        const { token } = await this.#agent.request({ op: 'prepare', base, revision, config }, timeLeft(deadline));
        return token;
      } catch (error) {
        if (error instanceof AgentRefusal) throw this.#refusal(error);
        if (error instanceof AgentSilent) throw errors.agentSilent(limitMs);
        if (!(error instanceof AgentGone)) throw error;
        if (tries > 1) await this.#agentReady(deadline);
      }
    }
    throw errors.agentDied();
  }

  #refusal(error: AgentRefusal): ApiError {
    if (error.code === 'internal') {
      // The agent's files are on the same disk, which may have failed.
      this.#watch?.requestCheck();
      return errors.agentFault(error.message);
    }
    if (error.row === undefined || error.row === 0) {
      // What it says of no row in particular may begin with the property of which there is too much.
      return errors.failure(error.message, /^([a-z][a-z-]*): /.exec(error.message)?.[1]);
    }
    const menu = [...this.#snapshot].find(([, rows]) => rows.some((row) => row.id === error.row))?.[0];
    return errors.refusedRow(error.row, `${menu ?? 'new item'} ${rowIdText(error.row)}: ${error.message}`);
  }

  /** Activates a stored revision. An agent that crashes meanwhile gets the revision when it reconnects. */
  async #activate(token: number, revision: number): Promise<void> {
    const deadline = performance.now() + this.waitMs;
    try {
      this.#sync.setActive(await this.#agent.request({ op: 'activate', token }, this.waitMs));
    } catch (error) {
      this.#log.warn(`revision ${revision} is stored but not yet active: ${String(error)}`);
      this.#sync.markUncertain();
      if (!(error instanceof AgentSilent)) await this.#agentReady(deadline).catch(() => undefined);
      this.#scheduleReconcile();
    }
  }
}
