/** What queues did in each millisecond, followed while somebody looks. */

import { live } from './live.ts';
import { isObject } from './rest.ts';
import { ScopeHistory, type ScopeSide, type ScopeSlot } from './scope-history.ts';
import type { Message } from './socket.ts';
import { Topic } from './topic.ts';

export interface QueueScope {
  readonly history: ScopeHistory;
  /** Why the router tells nothing. */
  readonly error: string | undefined;
  /** Calls back on news; runs while somebody listens. */
  listen(changed: () => void): () => void;
}

const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

function sideOf(raw: unknown): ScopeSide {
  const fields = isObject(raw) ? raw : {};
  return {
    bytes: number(fields.bytes),
    dropped: number(fields.dropped),
    queued: number(fields.queued),
    tokens: number(fields.tokens),
    wait: number(fields.wait),
    tokenRate: number(fields.rate),
  };
}

/** Decodes the milliseconds of a message; undefined for a message of another kind. */
export function scopeNews(
  message: Message,
): { readonly from: number; readonly now: number; readonly slots: readonly ScopeSlot[] } | undefined {
  if (message.op !== 'scope' || !Array.isArray(message.slots)) return undefined;
  const slots = message.slots.filter(isObject).map(
    (raw): ScopeSlot => ({
      ms: number(raw.ms),
      sides: [raw.upload, raw.download].filter((side) => side !== undefined).map(sideOf),
    }),
  );
  return { from: number(message.fromMs), now: number(message.nowMs), slots };
}

function scopeOf(menu: string, id: string): QueueScope {
  const history = new ScopeHistory();
  let error: string | undefined;
  const topic = new Topic(live, { topic: 'queue-scope', menu, queue: id }, (message) => {
    const news = scopeNews(message);
    if (news !== undefined) {
      error = undefined;
      history.append(news.slots, news.from, news.now);
    } else if (message.op === 'error') error = typeof message.detail === 'string' ? message.detail : 'refused';
  });
  return {
    history,
    get error() {
      return error;
    },
    listen: (changed) => topic.listen(changed),
  };
}

/** Those looked at last, so that a change of tabs loses nothing. */
const scopes = new Map<string, QueueScope>();
/** As many as the router watches at a time. */
const MAX_SCOPES = 4;

/** The milliseconds of a queue. */
export function queueScope(menu: string, id: string): QueueScope {
  const key = `${menu} ${id}`;
  const scope = scopes.get(key) ?? scopeOf(menu, id);
  // The newest stands last.
  scopes.delete(key);
  scopes.set(key, scope);
  const oldest = scopes.keys().next().value;
  if (scopes.size > MAX_SCOPES && oldest !== undefined) scopes.delete(oldest);
  return scope;
}
