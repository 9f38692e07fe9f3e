import { isIP } from 'node:net';
import { join, resolve } from 'node:path';

/** Configuration that an empty database is filled with. */
export type Defaults = 'lab' | 'memory' | 'ports' | 'none';

/** Settings of the process, read once from the environment. */
export interface Env {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly agentSocket: string;
  readonly defaults: Defaults;
  /** First password of `admin`, applied only while none is set. */
  readonly adminPassword: string | undefined;
  /**
   * Whether standard input contains that password and nothing else. Other users can read the environment, but not the
   * input.
   */
  readonly passwordOnInput: boolean;
  /** Host names of the router, besides its addresses, in lower case. */
  readonly names: readonly string[];
  /** Addresses of reverse proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly webRoot: string | undefined;
  readonly databaseUrl: string;
  /** Retention period of the accounting of queues, days. */
  readonly accountingDays: number;
  readonly logLevel: string;
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * Reads the environment.
 * @throws Error naming the variable and what it accepts.
 */
export function readEnv(env: Readonly<Record<string, string | undefined>>): Env {
  const dataDir = resolve(env.TOLLWAY_DATA_DIR ?? 'data');
  return {
    ...listenAddress(env.TOLLWAY_LISTEN ?? '127.0.0.1:8080'),
    dataDir,
    agentSocket: env.TOLLWAY_AGENT_SOCKET ?? join(dataDir, 'run', 'agent.sock'),
    defaults: oneOf('TOLLWAY_DEFAULTS', env.TOLLWAY_DEFAULTS ?? 'ports', ['lab', 'memory', 'ports', 'none']),
    adminPassword: env.TOLLWAY_ADMIN_PASSWORD || undefined,
    passwordOnInput: env.TOLLWAY_ADMIN_PASSWORD_STDIN === '1',
    names: hostNames(env.TOLLWAY_NAMES ?? ''),
    trustedProxies: addresses(env.TOLLWAY_TRUSTED_PROXIES ?? ''),
    webRoot: env.TOLLWAY_WEB_ROOT ? resolve(env.TOLLWAY_WEB_ROOT) : undefined,
    databaseUrl: env.DATABASE_URL || `file:${join(dataDir, 'tollway.db')}`,
    accountingDays: days('TOLLWAY_ACCOUNTING_DAYS', env.TOLLWAY_ACCOUNTING_DAYS ?? '400'),
    logLevel: oneOf('TOLLWAY_LOG_LEVEL', env.TOLLWAY_LOG_LEVEL ?? 'warn', logLevels),
  };
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new Error(`${name} must be one of ${allowed.join(', ')}, not "${value}"`);
  return found;
}

function days(name: string, value: string): number {
  if (!/^\d{1,5}$/.test(value) || Number(value) === 0)
    throw new Error(`${name} must be 1 to 99999 days, not "${value}"`);
  return Number(value);
}

function hostNames(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim().toLowerCase().replace(/\.$/, ''))
    .filter((name) => name !== '');
  const wrong = names.find((name) => !isIP(name) && !/^(?=.{1,253}$)[a-z0-9_]([a-z0-9._-]*[a-z0-9])?$/.test(name));
  if (wrong === undefined) return names;
  throw new Error(`TOLLWAY_NAMES must be host names separated by commas, e.g. router.example.net, not "${wrong}"`);
}

function addresses(text: string): string[] {
  const found = text
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  const wrong = found.find((address) => isIP(address) === 0);
  if (wrong === undefined) return found;
  throw new Error(`TOLLWAY_TRUSTED_PROXIES must be addresses separated by commas, e.g. 127.0.0.1,::1, not "${wrong}"`);
}

/** `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`. Port 0 lets the system choose. */
function listenAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65535 || (match?.[1] !== undefined && isIP(match[1]) !== 6)) {
    throw new Error(`TOLLWAY_LISTEN must be address:port, e.g. 127.0.0.1:8080, not "${text}"`);
  }
  return { host, port };
}
