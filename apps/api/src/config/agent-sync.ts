import { AgentGone, AgentRefusal, type DataplaneConfig, type Hello } from '../agent/messages.js';
import type { AgentPort } from '../agent/port.js';
import { errors } from '../errors.js';

/**
 * State of the agent: `down`: not connected; `behind`: connected, and not on the newest revision yet, or on a revision
 * of the same number with other content; `synced`: the configuration in force is the newest revision, by its digest;
 * `ahead`: the agent runs a revision that the database does not have; `refused`: the agent refuses the newest revision.
 */
export type SyncState = 'down' | 'behind' | 'synced' | 'ahead' | 'refused';

interface Head {
  readonly revision: number;
  readonly config: DataplaneConfig;
  readonly digest: string;
}

/** Remedy for an agent that is ahead of the database. */
export const AHEAD_REMEDY =
  'Stop the router and put back the newer database with the folder generations beside it; or start it as before with ' +
  '--restore and the revision of this database added (npm start -- --restore REVISION): that puts the configuration of ' +
  'generations in the place of the newer one.';

/** The active configuration as the agent reports it. */
type InForce = Pick<Hello, 'revision' | 'digest'>;

interface Log {
  error(message: string): void;
}

/** Shortest timeout of a request, ms, also near the deadline: a late request must not make the agent look silent. */
const MIN_MS = 1_000;

/** Timeout for an answer that is due at `deadline`, by `performance.now()`, ms. */
export const timeLeft = (deadline: number): number => Math.max(MIN_MS, deadline - performance.now());

/** Reconciles the agent with the database: the database is the intended state, the agent's configuration the actual one. */
export class AgentSync {
  readonly #agent: AgentPort;
  readonly #log: Log;
  readonly #head: () => Head;
  #state: SyncState = 'down';
  #active: InForce = { revision: 0, digest: '' };
  /** An activation was sent and has not been answered. */
  #uncertain = false;

  constructor(agent: AgentPort, log: Log, head: () => Head) {
    this.#agent = agent;
    this.#log = log;
    this.#head = head;
    agent.onUp((hello) => {
      this.#active = hello;
      this.#uncertain = false;
      this.#state = 'behind';
    });
    agent.onDown(() => {
      this.#state = 'down';
    });
    if (agent.hello !== undefined) {
      this.#active = agent.hello;
      this.#state = 'behind';
    }
  }

  get state(): SyncState {
    return this.#state;
  }

  /** Revision the agent runs. */
  get active(): number {
    return this.#active.revision;
  }

  /** @throws ApiError while the agent is ahead of the database. */
  refuseIfAhead(): void {
    if (this.#state === 'ahead') throw this.#ahead(this.#head().revision);
  }

  /** Sets the configuration that the agent has in force after it activated the newest revision. */
  setActive(active: InForce): void {
    this.#active = active;
    this.#compare();
  }

  /** Records that it is unknown which configuration the agent has in force, until the agent reports it. */
  markUncertain(): void {
    this.#uncertain = true;
    if (this.#state === 'synced') this.#state = 'behind';
  }

  /** Waits until the agent is connected; false after `timeoutMs`. */
  async connected(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.#agent.hello === undefined) {
      const left = deadline - performance.now();
      if (left <= 0) return false;
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, 25)));
    }
    return true;
  }

  /**
   * Activates the newest revision unless it is active. The caller holds the configuration's mutex. If the agent refuses
   * the revision, the previous one stays active: a later change may resolve the cause.
   * @param deadline when to give up, by `performance.now()`, ms; without it each request has its usual timeout.
   * @throws AgentGone, or ApiError when the agent is ahead of the database.
   */
  async reconcile(deadline?: number): Promise<void> {
    if (this.#agent.hello === undefined) throw new AgentGone();
    if (this.#state === 'synced') return;
    const left = () => (deadline === undefined ? undefined : timeLeft(deadline));
    if (this.#uncertain) {
      this.#active = await this.#agent.request({ op: 'stats' }, left());
      this.#uncertain = false;
    }
    const { revision, config } = this.#head();
    if (this.active > revision) throw this.#ahead(revision);
    if (!this.#isInForce()) {
      try {
        const request = { op: 'prepare', base: this.active, revision, config } as const;
        const { token } = await this.#agent.request(request, left());
        this.#active = await this.#agent.request({ op: 'activate', token }, left());
      } catch (error) {
        if (error instanceof AgentRefusal) {
          if (this.#state !== 'refused') this.#log.error(`the agent refuses revision ${revision}: ${error.message}`);
          this.#state = 'refused';
          return;
        }
        throw error;
      }
    }
    this.#compare();
  }

  /** Whether the agent has the newest revision in force. */
  #isInForce(): boolean {
    const { revision, digest } = this.#head();
    // Before the first revision there is no configuration to compare.
    return this.active === revision && (revision === 0 || this.#active.digest === digest);
  }

  #compare(): void {
    const equal = this.#isInForce();
    if (!equal) {
      const { revision, digest } = this.#head();
      const { revision: active, digest: found } = this.#active;
      this.#log.error(`the agent has ${active} (${found}) in force after it was sent revision ${revision} (${digest})`);
    }
    this.#state = equal ? 'synced' : 'behind';
  }

  /** An agent that is ahead is never overwritten: the database may be an old copy. */
  #ahead(revision: number) {
    const refused = errors.databaseBehind(this.active, revision, AHEAD_REMEDY);
    if (this.#state !== 'ahead') this.#log.error(refused.message);
    this.#state = 'ahead';
    return refused;
  }
}
