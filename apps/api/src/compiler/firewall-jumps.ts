import type { Action, Matcher } from '@tollway/dataplane-agent';
import { MAX_JUMP_DEPTH } from '@tollway/dataplane-agent/records';
import type { Row } from '../snapshot/snapshot.js';
import { InvalidRow } from './invalid-row.js';

/** A rule with translated conditions and action. Its jump is resolved once all rules have been translated. */
export interface UnlinkedRule {
  readonly row: Row;
  readonly chain: string;
  readonly matchers: Matcher[];
  readonly action: Action | { readonly kind: 'jump'; readonly target: string };
  readonly log: string | null;
}

export function checkJump({ action }: UnlinkedRule, names: ReadonlySet<string>, hooks: readonly string[]): void {
  if (!('target' in action)) return;
  if (hooks.includes(action.target)) {
    throw new InvalidRow(`jump-target: ${action.target} is a built-in chain; jump to a chain of your own`);
  }
  if (!names.has(action.target)) throw new InvalidRow(`jump-target: there is no chain ${action.target}`);
}

/** Chains that each chain reaches by jumps, directly and through others. */
export function reachability(rules: readonly UnlinkedRule[]): ReadonlyMap<string, ReadonlySet<string>> {
  const direct = new Map<string, Set<string>>();
  for (const { chain, action } of rules) {
    if (!('target' in action)) continue;
    const targets = direct.get(chain) ?? new Set();
    direct.set(chain, targets.add(action.target));
  }
  const reached = new Map<string, Set<string>>();
  for (const chain of direct.keys()) {
    const seen = new Set<string>();
    const pending = [...(direct.get(chain) ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(...(direct.get(next) ?? []));
    }
    reached.set(chain, seen);
  }
  return reached;
}

export function checkCycle({ chain, action }: UnlinkedRule, jumps: ReadonlyMap<string, ReadonlySet<string>>): void {
  if ('target' in action && (action.target === chain || jumps.get(action.target)?.has(chain))) {
    throw new InvalidRow(`jump-target: chain ${action.target} leads back to chain ${chain}`);
  }
}

/** A check that refuses jumps which nest too deep. `rules` must not contain circular jumps. */
export function checkNesting(rules: readonly UnlinkedRule[]): (rule: UnlinkedRule) => void {
  const byChain = new Map<string, UnlinkedRule[]>();
  for (const rule of rules) {
    if (!('target' in rule.action)) continue;
    const jumps = byChain.get(rule.chain);
    if (jumps) jumps.push(rule);
    else byChain.set(rule.chain, [rule]);
  }
  const known = new Map<string, number>();
  /** Depth of the jumps below a chain, counting only jumps that are not refused. */
  const below = (chain: string): number => {
    let deepest = known.get(chain);
    if (deepest !== undefined) return deepest;
    deepest = 0;
    for (const { action } of byChain.get(chain) ?? []) {
      const levels = 'target' in action ? 1 + below(action.target) : 0;
      if (levels <= MAX_JUMP_DEPTH) deepest = Math.max(deepest, levels);
    }
    known.set(chain, deepest);
    return deepest;
  };
  return ({ action }) => {
    if ('target' in action && 1 + below(action.target) > MAX_JUMP_DEPTH) {
      throw new InvalidRow(`jump-target: jumps below chain ${action.target} are nested deeper than ${MAX_JUMP_DEPTH}`);
    }
  };
}
