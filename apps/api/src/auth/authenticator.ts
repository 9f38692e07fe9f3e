import { isUtf8 } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_NAME, MAX_PASSWORD } from '@tollway/protocol/session';
import { errors } from '../errors.js';
import type { LoginRateLimiter } from './login-rate-limiter.js';
import type { Session, Sessions } from './sessions.js';
import type { Group, User, Users } from './users.js';

/** Time for which a verified Basic password is accepted without hashing it again, ms. */
const BASIC_CACHE_MS = 60_000;
const BASIC_CACHE_SIZE = 1_000;

/** User that makes a request. */
export interface Principal {
  readonly userId: number;
  readonly name: string;
  readonly group: Group;
  readonly address: string;
  /** Key of the session for cookie requests; absent for Basic. */
  readonly session: string | undefined;
  /** {@link Users.passwordVersion} of the password that was given for this request; absent with a cookie. */
  readonly passwordVersion?: number;
  /** Called with each revision that the request makes. */
  readonly onRevision?: (revision: number) => void;
  /** Current name, when a change is about to be stored: see {@link Authenticator.confirmed}. */
  readonly confirm?: () => string;
  /** Whether they may still log in: see {@link Authenticator.isStillAuthorized}. */
  readonly isStillAuthorized?: () => boolean;
}

const RANK: Readonly<Record<Group, number>> = { read: 0, write: 1, full: 2 };

interface Failures {
  add(name: string, address: string): void;
}

/** Finds out who makes a request, from a session cookie or Basic credentials. */
export class Authenticator {
  readonly #users: Users;
  readonly #sessions: Pick<Sessions, 'find' | 'alive'>;
  readonly #rateLimiter: LoginRateLimiter;
  readonly #failures: Failures;
  readonly #key = randomBytes(32);
  readonly #verifying = new Map<string, Promise<User>>();
  /** Resolves when the last of the requests that wait for a password hash may continue. */
  #lastTurn: Promise<void> = Promise.resolve();
  readonly #verified = new Map<string, { userId: number; until: number }>();

  constructor(
    users: Users,
    sessions: Pick<Sessions, 'find' | 'alive'>,
    rateLimiter: LoginRateLimiter,
    failures: Failures,
  ) {
    this.#users = users;
    this.#sessions = sessions;
    this.#rateLimiter = rateLimiter;
    this.#failures = failures;
    users.onChange((id) => {
      for (const [digest, { userId }] of this.#verified) if (userId === id) this.#verified.delete(digest);
    });
  }

  /**
   * Checks a name and a password.
   * @param gone aborted when the client is gone.
   * @throws ApiError 401, or 429 when too many fail.
   */
  async login(name: string, password: string, address: string, gone?: AbortSignal): Promise<User> {
    const attempt = await this.#rateLimiter.begin(address, name, gone);
    const user = await this.#users.verify(name, password);
    if (user === undefined) {
      this.#failures.add(name, address);
      throw errors.unauthorized();
    }
    attempt.succeeded();
    return user;
  }

  byCookie(token: string, address: string): Principal | undefined {
    const session: Session | undefined = this.#sessions.find(token);
    const user = session && this.#users.byId(session.userId);
    if (session === undefined || user === undefined || user.disabled) return undefined;
    return { userId: user.id, name: user.name, group: user.group, address, session: session.key };
  }

  /** @throws ApiError 401 or 429. */
  async byBasic(header: string, address: string, gone?: AbortSignal): Promise<Principal> {
    const encoded = /^Basic\s+([A-Za-z0-9+/=_-]+)\s*$/i.exec(header)?.[1];
    const bytes = Buffer.from(encoded ?? '', 'base64');
    const decoded = bytes.toString('utf8');
    const colon = decoded.indexOf(':');
    // All invalid bytes would be decoded as the same character.
    if (encoded === undefined || colon < 0 || !isUtf8(bytes)) throw errors.unauthorized();
    // No user has a name or password of this length: the attempt is neither counted nor logged.
    if (colon > MAX_NAME || decoded.length - colon - 1 > MAX_PASSWORD) throw errors.unauthorized();
    const digest = createHmac('sha256', this.#key).update(decoded).digest('base64');
    const known = this.#verified.get(digest);
    const named = this.#users.byName(decoded.slice(0, colon));
    const passwordVersion = named === undefined ? 0 : this.#users.passwordVersion(named.id);
    let user = known !== undefined && known.until > performance.now() ? this.#users.byId(known.userId) : undefined;
    if (user === undefined) {
      user = await this.#verifyOnce(`${address} ${digest}`, async () => {
        const verified = await this.login(decoded.slice(0, colon), decoded.slice(colon + 1), address, gone);
        this.#cacheVerified(digest, verified.id);
        return verified;
      });
    } else {
      // A Basic login counts as a success from this address, too: failed logins of others do not delay it later.
      this.#rateLimiter.remember(address, decoded.slice(0, colon));
    }
    if (user.disabled) throw errors.unauthorized();
    return { userId: user.id, name: user.name, group: user.group, address, session: undefined, passwordVersion };
  }

  /** Whether the user still exists, with this password or this session. */
  isStillAuthorized({ userId, session, passwordVersion }: Principal): boolean {
    const user = this.#users.byId(userId);
    if (user === undefined || user.disabled) return false;
    return session === undefined
      ? passwordVersion === this.#users.passwordVersion(userId)
      : this.#sessions.alive(session);
  }

  /**
   * The principal with current name and group, once the request is complete: the user may have been removed meanwhile.
   * @throws ApiError 401
   */
  renewed(principal: Principal): Principal {
    const user = this.#users.byId(principal.userId);
    if (user === undefined || !this.isStillAuthorized(principal)) throw errors.unauthorized();
    const { name, group } = user;
    return {
      ...principal,
      name,
      group,
      confirm: () => this.confirmed({ ...principal, group }),
      isStillAuthorized: () => this.isStillAuthorized(principal),
    };
  }

  /** Name of a user now. @throws ApiError 401, or 403 when the group of the user has fewer rights since. */
  confirmed(principal: Principal): string {
    const user = this.#users.byId(principal.userId);
    if (user === undefined || !this.isStillAuthorized(principal)) throw errors.unauthorized();
    if (RANK[user.group] < RANK[principal.group]) throw errors.notEnoughPermissions();
    return user.name;
  }

  /** Clients send several requests at once: the same credentials are hashed, and counted, once. */
  async #verifyOnce(key: string, verify: () => Promise<User>): Promise<User> {
    const running = this.#verifying.get(key);
    if (running !== undefined) {
      try {
        return await running;
      } finally {
        // All waiting requests are resolved at once; one of them continues in each turn of the event loop.
        this.#lastTurn = this.#lastTurn.then(() => nextTurn());
        await this.#lastTurn;
      }
    }
    const verifying = verify().finally(() => this.#verifying.delete(key));
    this.#verifying.set(key, verifying);
    return verifying;
  }

  #cacheVerified(digest: string, userId: number): void {
    this.#verified.delete(digest);
    this.#verified.set(digest, { userId, until: performance.now() + BASIC_CACHE_MS });
    for (const key of this.#verified.keys()) {
      if (this.#verified.size <= BASIC_CACHE_SIZE) break;
      this.#verified.delete(key);
    }
  }
}
