import type { Condition, Operator } from '@tollway/protocol/live/row-query';
import { columnValue, compareValues, type Kind, type Menu, menuColumn } from '@tollway/schema';
import { liesIn, MembershipError, membership, parsed, sought } from '../query/membership.js';

/** A condition that is wrong for its column; the message says what is accepted. */
export class ConditionError extends Error {}

/** Test of one item, given the text of one of its properties. */
export interface ColumnTest {
  /** Property that is tested. */
  readonly property: string;
  /** @param value text of the property; `undefined` when the item has none. */
  holds(value: string | undefined): boolean;
  /** Result of `holds` for a value, given its first and last IPv4 address. */
  holdsRange?(first: number, last: number): boolean;
}

type CellTest = (cell: string) => boolean;

/** @throws ConditionError for a column that the menu does not have, or a value that its column cannot have. */
export function columnTest(menu: Menu, { column: name, op, value }: Condition): ColumnTest {
  if (name.startsWith('.')) return { property: name, holds: withNegation(op, (cell) => cell === value, undefined) };
  const column = menuColumn(menu, name);
  if (column === undefined) throw new ConditionError(`filter: ${menu.path} has no column ${name}`);
  const { kind } = column;
  const { valueWhenUnset } = kind;
  try {
    const { property } = column;
    const { test, holdsRange } = cellTest(name, kind, op, value);
    const holds = withNegation(op, test, valueWhenUnset);
    return { property, holds: (text) => holds(columnValue(column, text)), ...(holdsRange && { holdsRange }) };
  } catch (error) {
    throw error instanceof MembershipError ? new ConditionError(`filter: ${error.message}`) : error;
  }
}

/** The operator without `not`. */
const withoutNot = (op: Operator): Operator =>
  op === 'is-not' ? 'is' : op === 'contains-not' ? 'contains' : op === 'in-not' ? 'in' : op;

/** A test, negated for operators with `not`. Only negated operators match a cell without a value. */
function withNegation(op: Operator, test: CellTest, absent: string | undefined): ColumnTest['holds'] {
  const negative = op.endsWith('-not');
  return (cell = absent) => (cell !== undefined && test(cell)) !== negative;
}

function cellTest(
  name: string,
  kind: Kind,
  op: Operator,
  value: string,
): { readonly test: CellTest; readonly holdsRange?: (first: number, last: number) => boolean } {
  switch (withoutNot(op)) {
    case 'contains': {
      const wanted = value.toLowerCase();
      return {
        test: (cell) =>
          cell.toLowerCase().includes(wanted) || (kind.display?.(cell).toLowerCase().includes(wanted) ?? false),
      };
    }
    case 'less':
    case 'more': {
      const bound = parsed(name, kind, value);
      const sign = op === 'less' ? -1 : 1;
      return { test: (cell) => Math.sign(compareValues(kind, cell, bound)) === sign };
    }
    case 'in': {
      const { holds, spans } = membership(name, kind, value);
      if (spans === undefined) return { test: holds };
      const wanted = op === 'in';
      return { test: holds, holdsRange: (first, last) => liesIn(spans, first, last) === wanted };
    }
    default: {
      const wanted = sought(name, kind, value);
      return { test: (cell) => cell === wanted || cell === value || kind.display?.(cell) === value };
    }
  }
}
