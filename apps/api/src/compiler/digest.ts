import { createHash } from 'node:crypto';
import type { DataplaneConfig, Rule, SimpleQueue } from '@tollway/dataplane-agent';

/** JSON of rules and queues; one that no commit changed is written once. */
const texts = new WeakMap<Rule | SimpleQueue, string>();

function textOf(rule: Rule | SimpleQueue): string {
  let text = texts.get(rule);
  if (text === undefined) {
    text = JSON.stringify(rule);
    texts.set(rule, text);
  }
  return text;
}

/** SHA-256 of a configuration's JSON, its rules and simple queues after all else. */
export function digestOf(config: DataplaneConfig): string {
  const { filter, nat, mangle = [], 'simple-queues': queues = [], ...rest } = config;
  const hash = createHash('sha256').update(JSON.stringify(rest));
  for (const { name, rules } of [...filter, ...nat, ...mangle]) {
    hash.update(JSON.stringify(name));
    hash.update(rules.map(textOf).join(','));
  }
  hash.update(queues.map(textOf).join(','));
  return hash.digest('hex');
}
