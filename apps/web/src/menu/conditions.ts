/** Conditions of the filter bar (funnel). An item is shown when all of them hold. Pure. */

import type { Operator } from '@tollway/protocol/live/row-query';
import { type Kind, type Menu, menuColumn } from '@tollway/schema';
import type { Filter, Test } from '../api/live-menu.ts';
import { possibleColumns } from './columns.ts';

export interface Condition {
  /** Name of a property, or of half of a pair. */
  readonly prop: string;
  readonly op: Operator;
  readonly value: string;
}

/** Operators in words. */
export const OPERATOR_LABELS: Readonly<Record<Operator, string>> = {
  is: 'is',
  'is-not': 'is not',
  in: 'in',
  'in-not': 'in not',
  contains: 'contains',
  'contains-not': 'contains not',
  less: 'less',
  more: 'more',
};

const IDENTITY: readonly Operator[] = ['is', 'is-not'];
const WORDS: readonly Operator[] = [...IDENTITY, 'contains', 'contains-not', 'in', 'in-not'];
// Every address is a member of itself, so that `in` finds single addresses and whole networks.
const ADDRESSES: readonly Operator[] = ['in', 'in-not', ...IDENTITY, 'contains', 'contains-not'];
// Sentences, and times as texts: users rarely know complete values.
const SENTENCES: readonly Operator[] = ['contains', 'contains-not', ...IDENTITY];
const AMOUNTS: readonly Operator[] = [...IDENTITY, 'less', 'more', 'in', 'in-not'];

const OPERATORS_BY_TYPE: Readonly<Record<NonNullable<Kind['filterType']>, readonly Operator[]>> = {
  flag: IDENTITY,
  amount: AMOUNTS,
  address: ADDRESSES,
  sentence: SENTENCES,
};

/** Operators for a kind of value, the most common one first. */
export function operatorsFor(kind: Kind): readonly Operator[] {
  return kind.filterType === undefined ? WORDS : OPERATORS_BY_TYPE[kind.filterType];
}

/** Description of the values that an operator expects, if that is not a single value. */
export function wantedAfter(kind: Kind, op: Operator): string | undefined {
  if (op !== 'in' && op !== 'in-not') return undefined;
  if (kind.filterType === 'address') return 'networks, ranges: 10.0.0.0/8,…';
  return kind.filterType === 'amount' ? 'values, ranges: 1-5,8,…' : 'whole values: one,another,…';
}

/** Fields of conditions: columns, and flags. */
export function conditionFields(menu: Menu): readonly { readonly name: string; readonly label: string }[] {
  const columns = possibleColumns(menu).flatMap((name) => {
    const column = menuColumn(menu, name);
    return column === undefined ? [] : [{ name, label: column.label }];
  });
  const named = new Set(columns.map(({ name }) => name));
  const rest = [...menu.flags.map((flag) => flag.prop), 'comment']
    .filter((name) => !named.has(name))
    .flatMap((name) => {
      const prop = menu.props[name];
      return prop === undefined ? [] : [{ name, label: prop.label }];
    });
  return [...columns, ...rest];
}

/** An empty condition on a property. */
export function emptyCondition(menu: Menu, prop: string): Condition {
  const kind = menuColumn(menu, prop)?.kind;
  return { prop, op: (kind === undefined ? undefined : operatorsFor(kind)[0]) ?? 'is', value: '' };
}

/**
 * The test of a condition. Cells of addresses may include a port: a condition with only an address matches every port.
 */
function toTest(menu: Menu, { prop, op, value }: Condition): Test {
  const alone = menuColumn(menu, prop)?.kind.withPort === true && !value.includes(':');
  if (!alone || (op !== 'is' && op !== 'is-not')) return { op, value };
  return { op: op === 'is' ? 'in' : 'in-not', value };
}

/** The conditions as a filter of the live feed; conditions without a value are omitted. */
export function filterOf(menu: Menu, conditions: readonly Condition[]): Filter {
  const tests = new Map<string, Test[]>();
  for (const condition of conditions) {
    const { prop, value } = condition;
    if (value === '') continue;
    const list = tests.get(prop) ?? [];
    list.push(toTest(menu, condition));
    tests.set(prop, list);
  }
  return Object.fromEntries(
    [...tests].map(([prop, list]) => {
      const [only] = list;
      return [prop, list.length === 1 && only?.op === 'is' ? only.value : list];
    }),
  );
}
