import type { Chain } from '@tollway/dataplane-agent';
import type { AddressFamily } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { rowsOf } from '../snapshot/snapshot.js';
import { AddressLists } from './address-lists.js';
import { type CompileContext, effective, requiredValue } from './context.js';
import { translateAction } from './firewall-action.js';
import { cachedRule, linkedRule } from './firewall-cache.js';
import { checkCycle, checkJump, checkNesting, reachability, type UnlinkedRule } from './firewall-jumps.js';
import { translateMatchers } from './firewall-match.js';
import { HOOKS, type Table } from './hooks.js';
import { InvalidRow } from './invalid-row.js';

/**
 * Chains of a table: the hooks first, then those of the user in the order of their first rule. A chain
 * exists as soon as a rule names it, even if that rule is disabled or cannot work.
 */
export function compileFirewall(context: CompileContext, table: Table, family: AddressFamily = 'ip'): Chain[] {
  const lists = AddressLists.of(context, family);
  const menu = `/${family}/firewall/${table}`;
  const names = new Set<string>(HOOKS[table]);
  for (const row of rowsOf(context.snapshot, menu)) if (row.values.chain) names.add(row.values.chain);

  let rules = context.translate(menu, (row) =>
    cachedRule(context, lists, row, () => unlinkedRule(context, lists, table, menu, row)),
  );
  rules = keep(context, rules, (rule) => checkJump(rule, names, HOOKS[table]));
  const jumps = reachability(rules);
  rules = keep(context, rules, (rule) => checkCycle(rule, jumps));
  rules = keep(context, rules, checkNesting(rules));
  const reached = reachability(rules);
  if (table === 'nat') rules = keep(context, rules, (rule) => checkHook(rule, reached));
  if (table === 'mangle') rules = keep(context, rules, (rule) => checkRoutingMark(rule, reached));

  const chains = [...names].map((name): Chain => ({ name, rules: [] }));
  const indices = new Map(chains.map(({ name }, index) => [name, index]));
  // Every chain that a rule is in or jumps to has an index: chains are collected from all rules, and checkJump has
  // verified the jumps.
  for (const rule of rules) chains[indices.get(rule.chain) ?? -1]?.rules.push(linkedRule(rule, indices));
  return chains;
}

function unlinkedRule(
  context: CompileContext,
  lists: AddressLists,
  table: Table,
  menu: string,
  row: Row,
): UnlinkedRule {
  const kind = requiredValue(menu, row, 'action');
  const logged = kind === 'log' || effective(menu, row, 'log') === 'true';
  return {
    row,
    chain: requiredValue(menu, row, 'chain'),
    matchers: translateMatchers(context, lists, menu, row),
    action:
      kind === 'jump'
        ? { kind, target: requiredValue(menu, row, 'jump-target') }
        : translateAction(context, lists, table, menu, row, kind),
    log: logged ? (effective(menu, row, 'log-prefix') ?? '') : null,
  };
}

function keep(
  context: CompileContext,
  rules: readonly UnlinkedRule[],
  check: (rule: UnlinkedRule) => void,
): UnlinkedRule[] {
  return rules.filter((rule) =>
    context.orInvalid(rule.row, () => {
      check(rule);
      return true;
    }),
  );
}

/** Hook of the NAT actions that work in one hook only; other actions work in every hook. */
const HOOK_OF: Readonly<Record<string, 'srcnat' | 'dstnat'>> = {
  masquerade: 'srcnat',
  'src-nat': 'srcnat',
  'dst-nat': 'dstnat',
  redirect: 'dstnat',
};

function checkHook({ chain, action }: UnlinkedRule, reached: ReadonlyMap<string, ReadonlySet<string>>): void {
  const hook = HOOK_OF[action.kind];
  if (!hook) return;
  const other = hook === 'srcnat' ? 'dstnat' : 'srcnat';
  if (chain === other || reached.get(other)?.has(chain)) {
    const way = chain === other ? '' : `, and chain ${chain} is reached from ${other}`;
    throw new InvalidRow(`action: ${action.kind} works in ${hook} only${way}`);
  }
}

/** Chains of mangle that packets pass before routing. */
const BEFORE_ROUTING: readonly string[] = ['prerouting', 'output'];

function checkRoutingMark({ chain, action }: UnlinkedRule, reached: ReadonlyMap<string, ReadonlySet<string>>): void {
  if (action.kind !== 'mark-routing') return;
  const late = HOOKS.mangle.find(
    (hook) => !BEFORE_ROUTING.includes(hook) && (chain === hook || reached.get(hook)?.has(chain)),
  );
  if (late === undefined) return;
  const way = chain === late ? '' : `, and chain ${chain} is reached from ${late}`;
  throw new InvalidRow(`action: ${action.kind} works in ${BEFORE_ROUTING.join(' and ')} only${way}`);
}
