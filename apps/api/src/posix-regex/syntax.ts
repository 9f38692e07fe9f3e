/** Extended regular expressions of POSIX.1-2017 §9.4, as a tree. */

/** Whether a character, given as its code point, is one of a set. */
export type CharacterTest = (codePoint: number) => boolean;

/** A part of an expression. */
export type Node =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'begin' | 'end' }
  | { readonly kind: 'sequence' | 'alternatives'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number };

/** What is no expression; the message says what is wrong with it. */
export class RegexError extends Error {}

/** Most repetitions that braces ask for, RE_DUP_MAX of POSIX. */
const MAX_REPETITIONS = 255;

/** Character classes of §9.3.5, item 6, in the POSIX locale and of letters of all scripts. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /^[\p{L}\p{Nd}]$/u,
  alpha: /^\p{L}$/u,
  blank: /^[ \t]$/,
  cntrl: /^\p{Cc}$/u,
  digit: /^[0-9]$/,
  graph: /^[^\p{Z}\p{C}]$/u,
  lower: /^\p{Ll}$/u,
  print: /^[^\p{Zl}\p{Zp}\p{C}]$/u,
  punct: /^[\p{P}\p{S}]$/u,
  space: /^\s$/u,
  upper: /^\p{Lu}$/u,
  xdigit: /^[0-9A-Fa-f]$/,
};

/** @throws RegexError */
export function parseRegex(text: string): Node {
  return new Parser(text).whole();
}

class Parser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#characters = [...text];
  }

  whole(): Node {
    const node = this.#alternatives();
    if (this.#at < this.#characters.length)
      throw new RegexError(') closes no parenthesis; write \\) for the character');
    return node;
  }

  #alternatives(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return { kind: 'alternatives', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') parts.push(this.#repeated());
    // POSIX leaves it undefined; that it matches everything is rarely meant.
    if (parts.length === 0) throw new RegexError('it has an empty part');
    return { kind: 'sequence', parts };
  }

  #repeated(): Node {
    let part = this.#single();
    for (;;) {
      const [least, most] = this.#take('*')
        ? [0, Number.POSITIVE_INFINITY]
        : this.#take('+')
          ? [1, Number.POSITIVE_INFINITY]
          : this.#take('?')
            ? [0, 1]
            : this.#take('{')
              ? this.#bounds()
              : [undefined, 0];
      if (least === undefined) return part;
      if (part.kind === 'begin' || part.kind === 'end') throw new RegexError('^ and $ cannot be repeated');
      part = { kind: 'repeat', part, least, most };
    }
  }

  /** The rest of `{m}`, `{m,}` or `{m,n}`. */
  #bounds(): [least: number, most: number] {
    const close = this.#characters.indexOf('}', this.#at);
    const text = close < 0 ? '' : this.#characters.slice(this.#at, close).join('');
    const match = /^(\d{1,3})(?:(,)(\d{1,3})?)?$/.exec(text);
    if (match === null)
      throw new RegexError('{ begins no repetition such as {2} or {1,3}; write \\{ for the character');
    const least = Number(match[1]);
    const most =
      match[3] === undefined ? (match[2] === undefined ? least : Number.POSITIVE_INFINITY) : Number(match[3]);
    if (least > MAX_REPETITIONS || (most > MAX_REPETITIONS && match[3] !== undefined)) {
      throw new RegexError(`{${text}} asks for more than ${MAX_REPETITIONS} repetitions`);
    }
    if (most < least) throw new RegexError(`{${text}} has its numbers in the wrong order`);
    this.#at = close + 1;
    return [least, most];
  }

  #single(): Node {
    const character = this.#characters[this.#at] ?? '';
    this.#at += 1;
    switch (character) {
      case '(': {
        const node = this.#alternatives();
        if (!this.#take(')')) throw new RegexError('( is not closed; write \\( for the character');
        return node;
      }
      case '[':
        return { kind: 'character', test: this.#bracket() };
      case '.':
        return { kind: 'character', test: () => true };
      case '^':
        return { kind: 'begin' };
      case '$':
        return { kind: 'end' };
      case '\\':
        return { kind: 'character', test: equal(this.#escaped()) };
      case '*':
      case '+':
      case '?':
      case '{':
        throw new RegexError(
          `${character} stands where there is nothing to repeat; write \\${character} for the character`,
        );
      default:
        return { kind: 'character', test: equal(character) };
    }
  }

  #escaped(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw new RegexError('it ends with a backslash');
    if (/[\p{L}\p{N}]/u.test(character)) {
      throw new RegexError(`\\${character} has no meaning; a class is written [[:digit:]], [[:space:]] or [[:alnum:]]`);
    }
    this.#at += 1;
    return character;
  }

  /** The rest of a bracket expression, `[^a-z_[:digit:]]`. A backslash is an ordinary character in it. */
  #bracket(): CharacterTest {
    const inverted = this.#take('^');
    const tests: CharacterTest[] = [];
    for (let first = true; first || this.#next !== ']'; first = false) tests.push(this.#bracketElement());
    this.#at += 1;
    const isOne: CharacterTest = (codePoint) => tests.some((test) => test(codePoint));
    return inverted ? (codePoint) => !isOne(codePoint) : isOne;
  }

  #bracketElement(): CharacterTest {
    const from = this.#bracketCharacter();
    if (from === '[' && this.#next === ':') return this.#class();
    if (from === '[' && (this.#next === '.' || this.#next === '=')) {
      throw new RegexError(`[${this.#next} is not supported in brackets`);
    }
    if (this.#next !== '-' || this.#characters[this.#at + 1] === ']') return equal(from);
    this.#at += 1;
    const to = this.#bracketCharacter();
    const [first, last] = [codePointOf(from), codePointOf(to)];
    if (last < first) throw new RegexError(`${from}-${to} has its ends in the wrong order`);
    return (codePoint) => codePoint >= first && codePoint <= last;
  }

  #bracketCharacter(): string {
    const character = this.#next;
    if (character === undefined) throw new RegexError('[ is not closed; write \\[ for the character');
    this.#at += 1;
    return character;
  }

  /** The rest of `[:digit:]` after its first character. */
  #class(): CharacterTest {
    const rest = this.#characters.slice(this.#at, this.#at + 16).join('');
    const name = /^:([a-z]+):\]/.exec(rest)?.[1] ?? '';
    const pattern = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
    if (pattern === undefined) {
      throw new RegexError(`[: begins none of the classes ${Object.keys(CLASSES).join(', ')}`);
    }
    this.#at += name.length + 3;
    return (codePoint) => pattern.test(String.fromCodePoint(codePoint));
  }

  get #next(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at += 1;
    return true;
  }
}

const codePointOf = (character: string): number => character.codePointAt(0) ?? 0;

function equal(character: string): CharacterTest {
  const wanted = codePointOf(character);
  return (codePoint) => codePoint === wanted;
}
