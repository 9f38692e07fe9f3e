import { type AddressSpan, compareValues, type Kind, missingElement, quoted } from '@tollway/schema';
import { sortNumber } from './sort-number.js';

/** Operator `in`: a value is in a network, in a range of numbers, or equals one of several words. */

/** Maximum number of members of a list after `in`. */
const MAX_PARTS = 256;
/**
 * Maximum number of members of all lists after `in` of a query or a filter: an item may have to be compared with each
 * of them.
 */
export const MAX_MEMBERS = 512;

/** Number of members of lists after `in`. */
export const membersOf = (lists: readonly string[]): number =>
  lists.reduce((sum, list) => sum + list.split(',').length, 0);

/** An invalid list after `in`; the message says what is accepted. */
export class MembershipError extends Error {}

/**
 * First and last IPv4 address of a property of items, as numbers, known without decoding its text; NaN for an item
 * without one.
 */
export interface AddressColumn {
  first(index: number): number;
  last(index: number): number;
}

/** First and last address of something. */
interface Span {
  readonly first: number;
  readonly last: number;
}

interface Membership {
  /** Whether a value is in the list. */
  holds(value: string): boolean;
  /** The networks of the list, if it consists of networks only: a value inside one of them is in the list. */
  readonly spans?: readonly Span[];
}

export const liesIn = (spans: readonly Span[], first: number, last: number): boolean =>
  spans.some((span) => first >= span.first && last <= span.last);

/** @throws MembershipError for a member that is no value of the kind. */
export function membership(name: string, kind: Kind, list: string): Membership {
  const parts = list.split(',').map((part) => part.trim());
  if (parts.length > MAX_PARTS) {
    throw new MembershipError(`value of ${name}: ${parts.length} values after in, ${MAX_PARTS} are accepted`);
  }
  const missing = missingElement(list, 'a value');
  if (missing !== undefined) {
    throw new MembershipError(`value of ${name}: ${missing}; give values separated by commas after in`);
  }
  const { range } = kind;
  if (range !== undefined) {
    const spans = parts.map((part) => spanOf(name, range(part), part));
    const holds = (value: string) =>
      value.split(',').some((piece) => {
        const own = range(piece);
        return own !== undefined && spans.some(({ first, last }) => own.first >= first && own.last <= last);
      });
    return { holds, spans: spans.map(({ first, last }) => ({ first: Number(first), last: Number(last) })) };
  }
  return { holds: oneOf(name, kind, parts) };
}

/** Values from `first` to `last`; `span` if they can be compared as numbers. */
interface Range {
  readonly first: string;
  readonly last: string;
  readonly span: Span | undefined;
}

/** Test for words and ranges of numbers. The list is parsed once, as many values are compared with it. */
function oneOf(name: string, kind: Kind, parts: readonly string[]): Membership['holds'] {
  const ranges: Range[] = [];
  const wanted = new Set<string>();
  const asShown = new Set<string>();
  for (const part of parts) {
    const dash = part.indexOf('-', 1);
    if (kind.align === 'right' && dash > 0) {
      ranges.push(rangeOf(kind, parsed(name, kind, part.slice(0, dash)), parsed(name, kind, part.slice(dash + 1))));
    } else {
      wanted.add(sought(name, kind, part));
      asShown.add(part);
    }
  }
  const isWanted = (value: string): boolean =>
    wanted.has(value) ||
    (kind.display !== undefined && asShown.has(kind.display(value))) ||
    value.split(',').some((piece) => wanted.has(piece));
  return (value) => (wanted.size > 0 && isWanted(value)) || (ranges.length > 0 && liesInRange(kind, ranges, value));
}

function rangeOf(kind: Kind, first: string, last: string): Range {
  const [from, to] = [sortNumber(kind, first), sortNumber(kind, last)];
  return { first, last, span: from === undefined || to === undefined ? undefined : { first: from, last: to } };
}

function liesInRange(kind: Kind, ranges: readonly Range[], value: string): boolean {
  const number = sortNumber(kind, value);
  return ranges.some(({ first, last, span }) =>
    number === undefined || span === undefined
      ? compareValues(kind, value, first) >= 0 && compareValues(kind, value, last) <= 0
      : number >= span.first && number <= span.last,
  );
}

function spanOf(name: string, found: AddressSpan | undefined, part: string): AddressSpan {
  if (found !== undefined) return found;
  throw new MembershipError(
    `value of ${name}: ${quoted(part)} is no address, prefix a.b.c.d/n or range a.b.c.d-e.f.g.h`,
  );
}

/**
 * The canonical text of a value to search for, which may be given as a column shows it: `6 (tcp)`. A rounded value,
 * such as `1.5 KiB`, has no canonical text, and is returned unchanged.
 * @throws MembershipError for a text that is no value of the kind, such as a word for a number.
 */
export function sought(name: string, kind: Kind, text: string): string {
  const result = kind.parse(text);
  if (result.ok) return result.value;
  const number = kind.parse(/^(!?\d+) \(/.exec(text)?.[1] ?? '');
  if (number.ok && kind.display?.(number.value) === text) return number.value;
  const isRounded = kind.align === 'right' && kind.display !== undefined && /^\d/.test(text);
  if (isRounded || (kind.align !== 'right' && kind.closedSet !== true)) return text;
  throw new MembershipError(`value of ${name}: ${result.error}`);
}

/** The canonical text. @throws MembershipError for a text that is no value of the kind. */
export function parsed(name: string, kind: Kind, text: string): string {
  const result = kind.parse(text);
  if (!result.ok) throw new MembershipError(`value of ${name}: ${result.error}`);
  return result.value;
}
