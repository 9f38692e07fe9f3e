import { createHash } from 'node:crypto';
import type { DataplaneConfig, Rule } from '@tollway/dataplane-agent';

/** JSON of rules; one that no commit changed is written once. */
const texts = new WeakMap<Rule, string>();

function textOf(rule: Rule): string {
  let text = texts.get(rule);
  if (text === undefined) {
    text = JSON.stringify(rule);
    texts.set(rule, text);
  }
  return text;
}

/** SHA-256 of a configuration's JSON, its rules after all else. */
export function digestOf(config: DataplaneConfig): string {
  const { filter, nat, mangle = [], ...rest } = config;
  const hash = createHash('sha256').update(JSON.stringify(rest));
  for (const { name, rules } of [...filter, ...nat, ...mangle]) {
    hash.update(JSON.stringify(name));
    hash.update(rules.map(textOf).join(','));
  }
  return hash.digest('hex');
}
