/** Samples of queues for each millisecond; subscribed while there are listeners. */

import { MAX_TOKEN_BUCKETS } from '@tollway/protocol/live/limits';
import type { QueueMenu } from '@tollway/protocol/queue-menus';
import { live } from './live.ts';
import { TokenBucketHistory } from './token-bucket-history.ts';
import { Topic } from './topic.ts';

export interface TokenBucketSource {
  readonly history: TokenBucketHistory;
  /** Reason why the router sends no samples. */
  readonly error: string | undefined;
  /** Calls back after each message. */
  listen(changed: () => void): () => void;
}

function newTokenBucket(menu: QueueMenu, id: string): TokenBucketSource {
  const history = new TokenBucketHistory();
  let error: string | undefined;
  const topic = new Topic(live, { topic: 'token-bucket', menu, queue: id }, (message) => {
    if (message.op === 'token-bucket') {
      error = undefined;
      history.append(message.slots, message.fromMs, message.nowMs);
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

/**
 * Sources, most recently used last. They are kept when their tabs are left, so that their histories are still there on
 * return.
 */
const recent = new Map<string, TokenBucketSource>();

/** The samples of a queue. */
export function tokenBucketOf(menu: QueueMenu, id: string): TokenBucketSource {
  const key = `${menu} ${id}`;
  const source = recent.get(key) ?? newTokenBucket(menu, id);
  // Moves it to the end.
  recent.delete(key);
  recent.set(key, source);
  const oldest = recent.keys().next().value;
  if (recent.size > MAX_TOKEN_BUCKETS && oldest !== undefined) recent.delete(oldest);
  return source;
}
