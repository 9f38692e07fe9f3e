import type { Rule } from '@tollway/dataplane-agent';
import type { Row } from '../snapshot/snapshot.js';
import type { AddressLists } from './address-lists.js';
import type { CompileContext } from './context.js';
import type { UnlinkedRule } from './firewall-jumps.js';
import type { InterfaceNames } from './interface-names.js';
import type { TableNames } from './table-names.js';

/**
 * Cache of translated rules. An unchanged row is the same object in the next snapshot; its translation is reused while the
 * lists, marks and clock offset that it depends on are the same.
 */

interface Translated {
  readonly unlinked: UnlinkedRule;
  readonly interfaces: InterfaceNames;
  readonly tables: TableNames;
  /** Referenced address lists with their indices. */
  readonly lists: readonly (readonly [string, number])[];
  /** Referenced marks. */
  readonly marks: ReadonlySet<string>;
  /** Clock offset that the translation depends on. */
  readonly utcOffsetS: number | undefined;
}

const translated = new WeakMap<Row, Translated>();

/** The cached translation of a row if it is still valid, else a new one by `translate`. */
export function cachedRule(
  context: CompileContext,
  lists: AddressLists,
  row: Row,
  translate: () => UnlinkedRule,
): UnlinkedRule {
  const known = translated.get(row);
  if (known !== undefined && holds(known, context, lists)) {
    if (known.utcOffsetS !== undefined) context.clockOffset();
    for (const mark of known.marks) context.marks.of(mark);
    return known.unlinked;
  }
  const asked = context.dependsOnTime;
  context.dependsOnTime = false;
  const named: (readonly [string, number])[] = [];
  const marks = new Set<string>();
  try {
    const unlinked = lists.dependencies.during(
      (list) => named.push(list),
      () => context.marks.dependencies.during((mark) => marks.add(mark), translate),
    );
    const utcOffsetS = context.dependsOnTime ? context.clockOffset() : undefined;
    translated.set(row, {
      unlinked,
      interfaces: context.interfaces,
      tables: context.tables,
      lists: named,
      marks,
      utcOffsetS,
    });
    return unlinked;
  } finally {
    context.dependsOnTime ||= asked;
  }
}

function holds(known: Translated, context: CompileContext, lists: AddressLists): boolean {
  return (
    known.interfaces === context.interfaces &&
    known.tables === context.tables &&
    (known.utcOffsetS === undefined || known.utcOffsetS === context.utcOffsetS) &&
    known.lists.every(([name, index]) => lists.indexOf(name) === index)
  );
}

const linkedRules = new WeakMap<UnlinkedRule, Rule>();

/** The rule of a translation; the same object while the rule is unchanged. */
export function linkedRule(unlinked: UnlinkedRule, indices: ReadonlyMap<string, number>): Rule {
  const { row, matchers, action, log } = unlinked;
  const known = linkedRules.get(unlinked);
  const chain = 'target' in action ? (indices.get(action.target) ?? -1) : undefined;
  if (known !== undefined && (known.action.kind !== 'jump' || known.action.chain === chain)) return known;
  const rule: Rule = {
    row: row.id,
    matchers,
    action: 'target' in action ? { kind: 'jump', chain: chain ?? -1 } : action,
    log,
  };
  linkedRules.set(unlinked, rule);
  return rule;
}
