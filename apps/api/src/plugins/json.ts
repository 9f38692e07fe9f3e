import { errors } from '../errors.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';

/** Maximum nesting depth of objects and lists. */
const MAX_DEPTH = 16;
/** Maximum number of members of one object. */
const MAX_MEMBERS = 1_024;
/** Maximum length of a member's name, characters. */
const MAX_NAME = 256;
/** Maximum number of elements of one list. */
const MAX_ELEMENTS = 200_000;
/** Number of values after which the clock is checked. */
const STRIDE = 512;
/** Number of characters after which the clock is checked. */
const LONG_TEXT = 1 << 18;
/** Number of characters of a string that are read without a pause. */
const PIECE = 1 << 16;

type JsonObject = Record<string, unknown>;

/** An object or list that is being read. */
interface Open {
  readonly into: JsonObject | unknown[];
  /** Name of the member whose value comes next. */
  key: string;
  size: number;
}

/** A string that is being read, in pieces. */
interface OpenString {
  readonly pieces: string[];
  /** Index after the characters that are read. */
  at: number;
  /** Called with the complete string. */
  readonly then: (value: string) => void;
}

/**
 * Parses the JSON of a request in time slices. As in RouterOS, bare numbers may be octal (leading 0) or hexadecimal
 * (0x), and exponents are refused. Integers that a double cannot represent exactly remain texts. The key `__proto__` is
 * refused, as it would not become a property of the object. Duplicate names are refused, as it is unknown which value
 * is meant (RFC 8259 section 4).
 *
 * @returns `undefined` for a blank text.
 * @throws ApiError 400 that says what is wrong, and where.
 */
export async function parseJson(text: string): Promise<unknown> {
  const reader = new JsonReader(text);
  const slicer = new TimeSlicer();
  while (!reader.done) {
    const until = reader.at + LONG_TEXT;
    for (let count = 0; count < STRIDE && !reader.done && reader.at < until; count += 1) reader.step();
    if (slicer.over) await slicer.pause();
  }
  return reader.result;
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const BLANKS = /[ \t\n\r]*/y;
/** Maximum length of a number, characters. */
const MAX_WORD = 64;
/** A word of at most one character more than the limit, which suffices to see that it is too long. */
const WORD = new RegExp(`[A-Za-z0-9+.-]{1,${MAX_WORD + 1}}`, 'y');

class JsonReader {
  readonly #text: string;
  readonly #open: Open[] = [];
  #at = 0;
  #string: OpenString | undefined;
  done = false;
  result: unknown;

  constructor(text: string) {
    this.#text = text;
    this.#blanks();
    if (this.#at === text.length) this.done = true;
  }

  /** Index of the next character. */
  get at(): number {
    return this.#string?.at ?? this.#at;
  }

  /** Parses one value, a piece of a string, or the beginning or end of an object or list. */
  step(): void {
    if (this.#string !== undefined) {
      this.#piece(this.#string);
      return;
    }
    const open = this.#open.at(-1);
    if (open !== undefined) {
      const close = Array.isArray(open.into) ? ']' : '}';
      if (this.#char() === close) {
        this.#at += 1;
        this.#open.pop();
        this.#end(open.into);
        return;
      }
      this.#member(open);
      return;
    }
    this.#value();
  }

  /** Reads the next member. */
  #member(open: Open): void {
    open.size += 1;
    const list = Array.isArray(open.into);
    if (open.size > (list ? MAX_ELEMENTS : MAX_MEMBERS)) {
      throw errors.badRequest(
        list
          ? `a list of the body has more than ${MAX_ELEMENTS} elements`
          : `an object of the body has more than ${MAX_MEMBERS} members`,
      );
    }
    if (list) {
      this.#value();
      return;
    }
    if (this.#char() !== '"') throw this.#wrong('a name in double quotes');
    this.#begin((name) => this.#named(open, name));
  }

  /** Parses the value of the member with this name. */
  #named(open: Open, name: string): void {
    if (name.length > MAX_NAME) {
      throw errors.badRequest(`a name in the body has ${name.length} characters, and ${MAX_NAME} are accepted at most`);
    }
    open.key = name;
    if (open.key === '__proto__') throw errors.unknownParameter('__proto__');
    if (Object.hasOwn(open.into, open.key)) throw this.#twice(open.key);
    this.#blanks();
    if (this.#char() !== ':') throw this.#wrong('a colon');
    this.#at += 1;
    this.#blanks();
    this.#value();
  }

  #value(): void {
    const char = this.#char();
    if (char === '{' || char === '[') {
      if (this.#open.length >= MAX_DEPTH) {
        throw errors.badRequest(`the body is nested deeper than ${MAX_DEPTH} objects and lists`);
      }
      this.#at += 1;
      this.#open.push({ into: char === '{' ? {} : [], key: '', size: 0 });
      this.#blanks();
      return;
    }
    if (char === '"') this.#begin((value) => this.#end(value));
    else this.#end(this.#word());
  }

  /** Stores a complete value in its object or list, and reads the separator after it. */
  #end(value: unknown): void {
    this.#blanks();
    const open = this.#open.at(-1);
    if (open === undefined) {
      if (this.#at < this.#text.length) throw this.#wrong('the end');
      this.result = value;
      this.done = true;
      return;
    }
    if (Array.isArray(open.into)) open.into.push(value);
    else open.into[open.key] = value;
    const char = this.#char();
    const close = Array.isArray(open.into) ? ']' : '}';
    if (char === close) return;
    if (char !== ',') throw this.#wrong(`a comma or ${close}`);
    this.#at += 1;
    this.#blanks();
    if (this.#char() === close) throw this.#wrong('another member after the comma');
  }

  /** Parses a string; a long string is continued in the next step. */
  #begin(then: OpenString['then']): void {
    const string = { pieces: [], at: this.#at + 1, then };
    this.#string = string;
    this.#piece(string);
  }

  #piece(string: OpenString): void {
    const end = this.#endOfPiece(string.at);
    const last = this.#text[end] === '"';
    try {
      if (!last && end >= this.#text.length) throw new SyntaxError('no quote closes it');
      string.pieces.push(JSON.parse(`"${this.#text.slice(string.at, end)}"`));
    } catch {
      throw this.#wrong('a string that ends, without bare control characters and with escapes of JSON');
    }
    string.at = end;
    if (!last) return;
    this.#string = undefined;
    this.#at = end + 1;
    const [only = ''] = string.pieces;
    string.then(string.pieces.length === 1 ? only : string.pieces.join(''));
  }

  /** Index of the quote that closes the string, or of a character between two escapes, or the end of the text. */
  #endOfPiece(start: number): number {
    const text = this.#text;
    const until = Math.min(start + PIECE, text.length);
    let at = start;
    while (at < until) {
      const char = text.charCodeAt(at);
      if (char === QUOTE) return at;
      if (char !== BACKSLASH) at += 1;
      else at += text[at + 1] === 'u' ? '\\u0000'.length : '\\n'.length;
    }
    return at;
  }

  #word(): unknown {
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.#text)?.[0] ?? '';
    const value = word === 'true' ? true : word === 'false' ? false : word === 'null' ? null : numberOf(word);
    if (value === undefined) {
      if (/^-?[\d.]+e[+-]?\d+$/i.test(word))
        throw this.#refusal(`numbers with an exponent are not accepted: ${word.slice(0, 40)}`);
      throw this.#wrong('a value');
    }
    this.#at += word.length;
    return value;
  }

  #twice(name: string): Error {
    const [outer] = this.#open;
    const shown = name.slice(0, 40);
    const error = errors.badProperty(shown, `value of ${shown}: it is given twice`);
    return Array.isArray(outer?.into) ? errors.inElement(outer.into.length, error) : error;
  }

  /** Error in a value, naming the property and the element of a list that it is in. */
  #refusal(text: string): Error {
    const [outer] = this.#open;
    const property = this.#open.findLast(({ into }) => !Array.isArray(into))?.key;
    const error =
      property === undefined ? errors.badRequest(text) : errors.badProperty(property, `value of ${property}: ${text}`);
    return Array.isArray(outer?.into) && property !== undefined ? errors.inElement(outer.into.length, error) : error;
  }

  #char(): string {
    return this.#text[this.#at] ?? '';
  }

  #blanks(): void {
    BLANKS.lastIndex = this.#at;
    BLANKS.test(this.#text);
    this.#at = BLANKS.lastIndex;
  }

  #wrong(wanted: string): Error {
    const where = this.#at < this.#text.length ? `at character ${this.#at + 1}` : 'at its end';
    return errors.badRequest(`the body is not valid JSON: ${where} there should be ${wanted}`);
  }
}

/** A bare number: decimal, octal with a leading 0, hexadecimal with 0x. `undefined` for any other word. */
function numberOf(word: string): number | string | undefined {
  const match = /^(-?)(?:0x([0-9a-f]+)|0([0-7]+)|((?:0|[1-9]\d*)(\.\d+)?))$/i.exec(word);
  if (match === null || word.length > MAX_WORD) return undefined;
  const [, sign = '', hex, octal, decimal = '', fraction] = match;
  if (fraction !== undefined) return Number(word);
  const digits = hex !== undefined ? `0x${hex}` : octal !== undefined ? `0o${octal}` : decimal;
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return sign === '' ? number : -number;
  return `${sign}${BigInt(digits)}`;
}
