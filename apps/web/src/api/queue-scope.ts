/** What queues did in each millisecond, followed while somebody looks. */

import { MAX_SCOPES } from '@tollway/protocol/live/limits';
import type { ScopeMessage, ScopeSide } from '@tollway/protocol/live/queue-scope';
import { live } from './live.ts';
import { type ScopeSide as HeldSide, type ScopeSlot as HeldSlot, ScopeHistory } from './scope-history.ts';
import { Topic } from './topic.ts';

export interface QueueScope {
  readonly history: ScopeHistory;
  /** Why the router tells nothing. */
  readonly error: string | undefined;
  /** Calls back on news; runs while somebody listens. */
  listen(changed: () => void): () => void;
}

/** One direction, as it is held. */
const held = ({ rate, ...side }: ScopeSide): HeldSide => ({ ...side, tokenRate: rate });

/** The milliseconds of a message, as they are held. */
const slotsOf = ({ slots }: ScopeMessage): readonly HeldSlot[] =>
  slots.map(({ ms, upload, download }) => ({
    ms,
    sides: download === undefined ? [held(upload)] : [held(upload), held(download)],
  }));

type Menu = '/queue/simple' | '/queue/tree';

function scopeOf(menu: Menu, id: string): QueueScope {
  const history = new ScopeHistory();
  let error: string | undefined;
  const topic = new Topic(live, { topic: 'queue-scope', menu, queue: id }, (message) => {
    if (message.op === 'scope') {
      error = undefined;
      history.append(slotsOf(message), message.fromMs, message.nowMs);
    } else if (message.op === 'error') error = message.detail;
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

/** The milliseconds of a queue. */
export function queueScope(menu: Menu, id: string): QueueScope {
  const key = `${menu} ${id}`;
  const scope = scopes.get(key) ?? scopeOf(menu, id);
  // The newest stands last.
  scopes.delete(key);
  scopes.set(key, scope);
  const oldest = scopes.keys().next().value;
  if (scopes.size > MAX_SCOPES && oldest !== undefined) scopes.delete(oldest);
  return scope;
}
