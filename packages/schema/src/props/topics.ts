import type { Kind } from '../kind.js';
import { triStateSetOf } from './set.js';

/** Topics that messages of the log have: what they are about, then how bad it is. A message has some of each. */
export const TOPICS = [
  'account',
  'firewall',
  'interface',
  'script',
  'system',
  'debug',
  'info',
  'warning',
  'error',
  'critical',
] as const;

/** Quick filter of a property with several topics. */
export const TOPIC_FILTER = { all: 'all topics', op: 'contains' } as const;

/** Topics that messages must have, and such that they must not have. */
export const topicsWanted: Kind = triStateSetOf(TOPICS, { empty: true });
