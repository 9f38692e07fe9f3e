import type { Kind } from '../kind.js';
import { triStateSetOf } from './set.js';

/** Topics of log messages: first subjects, then severities. A message has at least one of each. */
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

/** Topics that messages must have, and topics (with `!`) that they must not have. */
export const topicsWanted: Kind = triStateSetOf(TOPICS, { empty: true });
