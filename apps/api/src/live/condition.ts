import { columnValue, durationMs, ipv4Mask, ipv4Prefix, type Kind, type Menu, menuColumn } from '@tollway/schema';

/** What a condition of a filter asks of a cell. */
export const OPERATORS = ['is', 'is-not', 'contains', 'contains-not', 'in', 'in-not', 'less', 'more'] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  /** A property, half of a pair (`max-limit.upload`) or `.id`. */
  readonly column: string;
  readonly op: Operator;
  readonly value: string;
}

/** A condition that no cell could meet; the message says what is accepted. */
export class ConditionError extends Error {}

/** Test of one item, given the text of a whole property of it. */
export interface Test {
  /** Property whose text is looked at. */
  readonly property: string;
  /** @param value text of the property; `undefined` when the item has none. */
  holds(value: string | undefined): boolean;
}

type CellTest = (cell: string) => boolean;

/** @throws ConditionError for a column that the menu does not have, or a value that its column cannot have. */
export function testOf(menu: Menu, { column: name, op, value }: Condition): Test {
  if (name.startsWith('.')) return { property: name, holds: withSense(op, (cell) => cell === value, undefined) };
  const column = menuColumn(menu, name);
  if (column === undefined) throw new ConditionError(`filter: ${menu.path} has no column ${name}`);
  const { kind } = column;
  const absent = kind.name === 'bool' ? 'false' : undefined;
  const holds = withSense(op, cellTest(name, kind, positive(op), value), absent);
  return { property: column.property, holds: (text) => holds(columnValue(column, text)) };
}

const positive = (op: Operator): Operator =>
  op === 'is-not' ? 'is' : op === 'contains-not' ? 'contains' : op === 'in-not' ? 'in' : op;

/** A cell without a value meets only what is asked with "not". */
function withSense(op: Operator, test: CellTest, absent: string | undefined): Test['holds'] {
  const negative = op.endsWith('-not');
  return (cell = absent) => (cell !== undefined && test(cell)) !== negative;
}

function cellTest(name: string, kind: Kind, op: Operator, value: string): CellTest {
  switch (op) {
    case 'contains': {
      const wanted = value.toLowerCase();
      return (cell) =>
        cell.toLowerCase().includes(wanted) || (kind.display?.(cell).toLowerCase().includes(wanted) ?? false);
    }
    case 'less':
    case 'more': {
      const bound = parsed(name, kind, value);
      const sign = op === 'less' ? -1 : 1;
      return (cell) => Math.sign(order(kind, cell, bound)) === sign;
    }
    case 'in':
      return anyOf(value.split(',').map((part) => inside(name, kind, part.trim())));
    default: {
      const result = kind.parse(value);
      const wanted = result.ok ? result.value : value;
      return (cell) => cell === wanted || cell === value;
    }
  }
}

function parsed(name: string, kind: Kind, value: string): string {
  const result = kind.parse(value);
  if (!result.ok) throw new ConditionError(`filter: value of ${name}: ${result.error}`);
  return result.value;
}

const order = (kind: Kind, a: string, b: string): number =>
  kind.compare ? kind.compare(a, b) : a < b ? -1 : a > b ? 1 : 0;

const anyOf =
  (tests: readonly CellTest[]): CellTest =>
  (cell) =>
    tests.some((test) => test(cell));

/** Kinds whose cells hold addresses. */
const ADDRESSES = [
  'ip',
  'ip-port',
  'ip-prefix',
  'ip-iface-prefix',
  'ip-prefix-list',
  'ip-range',
  'nexthop',
  'queue-target',
  'queue-target-list',
];

/** Test for one member of the list after `in`: a network, a range of numbers, or one of several words. */
function inside(name: string, kind: Kind, part: string): CellTest {
  if (ADDRESSES.includes(kind.name)) {
    const net = span(part);
    if (net === undefined) {
      throw new ConditionError(
        `filter: value of ${name}: ${part} is no address, prefix a.b.c.d/n or range a.b.c.d-e.f.g.h`,
      );
    }
    return (cell) =>
      cell.split(',').some((piece) => {
        const own = span(piece);
        return own !== undefined && own.first >= net.first && own.last <= net.last;
      });
  }
  const dash = part.indexOf('-', 1);
  if (kind.align === 'right' && dash > 0) {
    const first = parsed(name, kind, part.slice(0, dash));
    const last = parsed(name, kind, part.slice(dash + 1));
    return (cell) => order(kind, cell, first) >= 0 && order(kind, cell, last) <= 0;
  }
  const result = kind.parse(part);
  const wanted = result.ok ? result.value : part;
  return (cell) => cell === wanted || cell.split(',').includes(wanted);
}

/** First and last address of `a.b.c.d`, `a.b.c.d:port`, `a.b.c.d%interface`, `a.b.c.d/n` or `a.b.c.d-e.f.g.h`. */
function span(text: string): { readonly first: number; readonly last: number } | undefined {
  const dash = text.indexOf('-');
  if (dash > 0) {
    const [from, to] = [ipv4Prefix(text.slice(0, dash)), ipv4Prefix(text.slice(dash + 1))];
    return from && to && { first: from.address, last: to.address };
  }
  const prefix = ipv4Prefix(text.replace(/[:%].*$/, ''));
  if (prefix === undefined) return undefined;
  const mask = ipv4Mask(prefix.length);
  return { first: (prefix.address & mask) >>> 0, last: (prefix.address | ~mask) >>> 0 };
}

/** A number in the order of a kind's values, where they have one: sorting by it costs no parsing. */
export function sortNumber(kind: Pick<Kind, 'name'>, cell: string): number | undefined {
  if (/^\d{1,15}$/.test(cell)) return Number(cell);
  if (kind.name === 'duration') return durationMs(cell);
  if (!ADDRESSES.includes(kind.name)) return undefined;
  const match = /^([\d.]+)(?:[:/](\d{1,5}))?$/.exec(cell);
  const address = ipv4Prefix(match?.[1] ?? '')?.address;
  // What follows the address orders those of the same address; nothing comes before anything.
  return address === undefined ? undefined : address * 0x2_0000 + (match?.[2] === undefined ? 0 : 1 + Number(match[2]));
}
