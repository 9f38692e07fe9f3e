import { compareTexts, compareValues, displayValue, type Menu, propOf, quoted } from '@tollway/schema';
import { type AddressColumn, liesIn, MAX_MEMBERS, MembershipError, membership, membersOf } from './membership.js';

/** Maximum number of words of a `.query`, or of filters of a GET. */
export const MAX_WORDS = 128;
/** Maximum length of a word, characters. */
const MAX_WORD = 1_024;
/** Maximum number of operations of a `#` word. */
const MAX_OPERATIONS = 64;
/** Maximum number of names of a `.proplist`. */
export const MAX_NAMES = 256;

/** An item as REST shows it: texts by property name, with `.id`. */
export type Item = Readonly<Record<string, string>>;

/** Items whose properties are decoded on access. */
export interface Cells {
  /** Text of a property; `undefined` when the item has none. */
  value(index: number, property: string): string | undefined;
  /** Addresses of a property, if they are known without decoding its text. */
  range?(property: string): AddressColumn | undefined;
}

/** Canonical form of a value to compare with: `yes` finds `true`, `6` finds `tcp`, `*1f` finds `*1F`. */
function canonical(menu: Menu, name: string, value: string): string {
  if (name === '.id') return value.toUpperCase();
  const prop = propOf(menu, name);
  const parsed = prop?.kind.parse(value);
  return parsed?.ok ? parsed.value : value;
}

/** Value of an item in comparisons: an absent flag counts as `false`. */
function valueIn(menu: Menu, items: Cells, index: number, name: string): string | undefined {
  const value = items.value(index, name);
  if (value !== undefined) return value;
  return propOf(menu, name)?.kind.valueWhenUnset;
}

/** Test of one item. */
export type Test = (items: Cells, index: number) => boolean;

/** Test for `name=value`: equal after normalisation. A property without a value equals nothing. */
function equals(menu: Menu, name: string, value: string): Test {
  const wanted = canonical(menu, name, value);
  return (items, index) => {
    const found = valueIn(menu, items, index, name);
    return found !== undefined && (found === wanted || found === value);
  };
}

/** Test for items for which every filter of a GET (`?network=10.0.0.0&dynamic=no`) holds. Unknown names match nothing. */
export function filterTest(menu: Menu, filters: Iterable<readonly [string, string]>): Test {
  const pairs = [...filters];
  if (pairs.length > MAX_WORDS) throw new QueryError(`${pairs.length} filters, ${MAX_WORDS} are accepted`);
  const tests = pairs.map(([name, value]) => equals(menu, name, value));
  return (items, index) => tests.every((test) => test(items, index));
}

/** Names of a `.proplist`: a comma list or an array; undefined when it is neither, or longer than {@link MAX_NAMES}. */
export function parseProplist(value: unknown): readonly string[] | undefined {
  const parts: unknown[] | undefined =
    typeof value === 'string' ? value.split(',', MAX_NAMES + 1) : Array.isArray(value) ? value : undefined;
  if (parts === undefined || parts.length > MAX_NAMES) return undefined;
  if (!parts.every((part) => typeof part === 'string')) return undefined;
  return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))];
}

/** Named properties of an item, in the order of the list; `.id` only when it is listed. */
export function project(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(item, name) ? [[name, item[name] ?? '']] : [])));
}

/** An invalid `.query`; the message says which word is wrong and what is accepted. */
export class QueryError extends Error {}

/**
 * Test for items that pass a `.query`: words that push conditions on a stack, and `#` words that combine them. An item
 * passes unless a false value remains on the stack; an empty stack passes all items.
 *
 * @throws QueryError for an invalid word.
 */
export function queryTest(menu: Menu, words: readonly string[]): Test {
  if (words.length > MAX_WORDS) {
    throw new QueryError(`value of .query: it has more than ${MAX_WORDS} words`);
  }
  const texts = words.map(plainWord);
  const members = membersOf(texts.flatMap((text) => IN.exec(text)?.[2] ?? []));
  if (members > MAX_MEMBERS) {
    throw new QueryError(`value of .query: ${members} values after in, ${MAX_MEMBERS} are accepted in all`);
  }
  const steps = texts.map((text) => readWord(menu, text));
  return (items, index) => {
    const stack: boolean[] = [];
    for (const step of steps) step(stack, items, index);
    return stack.every((value) => value);
  };
}

/** Effect of a word on the stack, whose top is the last element. */
type Step = (stack: boolean[], items: Cells, index: number) => void;

/** `name in x,y`: the name, and the list. */
const IN = /^([^\s=]+) in (.+)$/;

/** @throws QueryError for a word that is too long. */
function plainWord(word: string): string {
  const text = word.startsWith('?') ? word.slice(1) : word;
  if (text.length <= MAX_WORD) return text;
  throw new QueryError(`value of .query: a word has ${text.length} characters, ${MAX_WORD} are accepted`);
}

function readWord(menu: Menu, word: string): Step {
  const push =
    (test: Test): Step =>
    (stack, items, index) =>
      void stack.push(test(items, index));
  if (word.startsWith('#')) return readOperations(word);
  if (word.startsWith('-')) {
    const name = named(word, word.slice(1));
    return push((items, index) => items.value(index, name) === undefined);
  }
  if (word.startsWith('<') || word.startsWith('>')) return push(readComparison(menu, word));
  const within = IN.exec(word);
  if (within !== null) return push(isIn(menu, named(word, within[1] ?? ''), within[2] ?? ''));
  const text = word.startsWith('=') ? word.slice(1) : word;
  const at = text.indexOf('=');
  if (at < 0) {
    const name = named(word, text);
    return push((items, index) => items.value(index, name) !== undefined);
  }
  return push(equals(menu, named(word, text.slice(0, at)), text.slice(at + 1)));
}

function named(word: string, name: string): string {
  if (/^\.?[A-Za-z0-9][A-Za-z0-9.-]*$/.test(name)) return name;
  throw new QueryError(
    `value of .query: ${quoted(word)} is no query word; give name, -name, name=x, <name=x, >name=x, "name in x,y" or #operations`,
  );
}

/** Test for `name in 10.0.0.0/8,192.0.2.7`, as in RouterOS's `where`: networks, ranges of numbers, or several words. */
function isIn(menu: Menu, name: string, list: string): Test {
  const prop = propOf(menu, name);
  if (prop === undefined) return () => false;
  const { holds, spans } = readMembership(name, prop.kind, list);
  return (items, index) => {
    const range = spans && items.range?.(name);
    if (range) return liesIn(spans, range.first(index), range.last(index));
    const found = valueIn(menu, items, index, name);
    return found !== undefined && holds(found);
  };
}

function readMembership(...given: Parameters<typeof membership>): ReturnType<typeof membership> {
  try {
    return membership(...given);
  } catch (error) {
    throw error instanceof MembershipError ? new QueryError(`value of .query: ${error.message}`) : error;
  }
}

function readComparison(menu: Menu, word: string): Test {
  const at = word.indexOf('=');
  const name = named(word, at < 0 ? '' : word.slice(1, at));
  const bound = canonical(menu, name, word.slice(at + 1));
  const kind = propOf(menu, name)?.kind;
  const parsed = kind?.filterType === 'amount' ? kind.parse(bound) : undefined;
  if (parsed?.ok === false) throw new QueryError(`value of .query: ${quoted(word)}: ${parsed.error}`);
  const sign = word.startsWith('<') ? -1 : 1;
  return (items, index) => {
    const found = valueIn(menu, items, index, name);
    return found !== undefined && Math.sign(compareIn(menu, name, found, bound)) === sign;
  };
}

function compareIn(menu: Menu, name: string, a: string, b: string): number {
  const prop = propOf(menu, name);
  if (prop) return compareValues(prop.kind, a, b);
  if (name === '.id') return Number.parseInt(a.slice(1), 16) - Number.parseInt(b.slice(1), 16);
  return compareTexts(a, b);
}

/** The operations of a `#` word, left to right. Values below the bottom of the stack are true. */
function readOperations(word: string): Step {
  const tokens = word.slice(1).match(/\d+|[!&|.]/g) ?? [];
  if (tokens.length === 0 || tokens.join('') !== word.slice(1)) {
    throw new QueryError(`value of .query: ${quoted(word)} is no operation; give digits and ! & | . after #`);
  }
  if (tokens.length > MAX_OPERATIONS) {
    throw new QueryError(`value of .query: ${tokens.length} operations in one word, ${MAX_OPERATIONS} are accepted`);
  }
  return (stack) => {
    tokens.forEach((token, position) => {
      if (/\d/.test(token)) {
        const value = stack.at(-1 - Number(token)) ?? true;
        if (position === tokens.length - 1) stack.length = 0;
        stack.push(value);
        return;
      }
      const pop = (): boolean => stack.pop() ?? true;
      if (token === '!') stack.push(!pop());
      else if (token === '.') {
        if (!/\d/.test(tokens[position - 1] ?? '')) stack.push(stack.at(-1) ?? true);
      } else {
        const [a, b] = [pop(), pop()];
        stack.push(token === '&' ? a && b : a || b);
      }
    });
  };
}

/**
 * Test for items in which a text occurs in any property, as shown to people or as sent, ignoring case. Measured values
 * are searched only in the form in which they are shown: the digits of a number that is shown in MiB are not searched.
 */
export function containing(menu: Menu, text: string): (item: Item) => boolean {
  const wanted = text.toLowerCase();
  // In a long list most items have the same value of a property, such as a counter at zero: the last result is cached.
  const last = new Map<string, { readonly value: string; readonly holds: boolean }>();
  const holds = (name: string, value: string): boolean => {
    const prop = propOf(menu, name);
    if (!prop || prop.secret || prop.kind.filterType === 'flag') return false;
    const measured = prop.readOnly === true && prop.kind.display !== undefined;
    if (!measured && value.toLowerCase().includes(wanted)) return true;
    return prop.kind.display !== undefined && displayValue(prop, value).toLowerCase().includes(wanted);
  };
  return (item) => {
    for (const name in item) {
      const value = item[name];
      if (value === undefined) continue;
      let known = last.get(name);
      if (known?.value !== value) {
        known = { value, holds: holds(name, value) };
        last.set(name, known);
      }
      if (known.holds) return true;
    }
    return false;
  };
}
