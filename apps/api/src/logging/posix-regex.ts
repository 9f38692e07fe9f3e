/**
 * Extended regular expressions of POSIX (POSIX.1-2017 §9.4), matched by RE2 in time linear in the length of the text.
 * JavaScript's regular expressions backtrack: `(a+)+b` could block the process.
 */

import { RE2JS, RE2JSSyntaxException } from 're2js';

/**
 * Maximum number of instructions of a compiled expression: it bounds the time per character, and the time of
 * compilation.
 */
const MAX_INSTRUCTIONS = 600;

/** Maximum number of repetitions in braces, RE_DUP_MAX of POSIX. */
const MAX_REPETITIONS = 255;

/**
 * Character classes of §9.3.5, item 6, in the syntax of RE2 within brackets; they include the letters of all scripts.
 */
const CLASSES: Readonly<Record<string, string>> = {
  alnum: '\\p{L}\\p{Nd}',
  alpha: '\\p{L}',
  blank: '[:blank:]',
  cntrl: '\\p{Cc}',
  digit: '[:digit:]',
  graph: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}',
  lower: '\\p{Ll}',
  print: '\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}',
  punct: '\\p{P}\\p{S}',
  space: '\\t-\\r\\x{feff}\\p{Z}',
  upper: '\\p{Lu}',
  xdigit: '[:xdigit:]',
};

/** Bracket expression, escaped character, repetition, any other character. */
const TOKEN = /\[\^?\]?(?:\[:\w*:\]|(?!\[:\w*:\])[^\]])*\]|\\.?|\{[^}]*\}?|./gsu;

/** @throws RE2JSSyntaxException with a description of the error */
export function posixRegex(text: string): RE2JS {
  const regex = RE2JS.compile(re2Syntax(text), RE2JS.DOTALL);
  if (regex.programSize() > MAX_INSTRUCTIONS) throw new RE2JSSyntaxException('it is too long, or repeats too much');
  return regex;
}

/** Error in the text of an expression; undefined without one. */
export function regexProblem(text: string): string | undefined {
  try {
    posixRegex(text);
    return undefined;
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.getDescription();
    throw error;
  }
}

/**
 * Translates to the syntax of RE2, which has operators that POSIX lacks, and treats a backslash in brackets as an
 * escape.
 */
function re2Syntax(text: string): string {
  const parts: string[] = [];
  /** Indexes in `parts` of the open parentheses, and of the atom that a repetition would apply to. */
  const open: number[] = [];
  let repeated = 0;
  let before = '(';
  for (const token of [...(text.match(TOKEN) ?? []), '']) {
    // POSIX leaves an empty alternative undefined; it is refused, as it would match everything.
    const isFirst = before === '(' || before === '|';
    if (isFirst && ['', ')', '|'].includes(token)) throw new RE2JSSyntaxException('it has an empty part');
    if (/^[*+?{]/.test(token)) {
      if (isFirst || before === '^' || before === '$') {
        throw new RE2JSSyntaxException(`${token[0]} has nothing to repeat; write \\${token[0]} for the character`);
      }
      // RE2 interprets a second repetition as a modifier of the first.
      if (/^[*+?{]/.test(before)) {
        parts.splice(repeated, 0, '(?:');
        parts.push(')');
      }
      parts.push(repetition(token));
    } else {
      repeated = (token === ')' ? open.pop() : undefined) ?? parts.length;
      if (token === '(') open.push(repeated);
      parts.push(
        token[0] === '[' ? bracket(token) : token[0] === '\\' ? escaped(token) : token === '(' ? '(?:' : token,
      );
    }
    before = token;
  }
  return parts.join('');
}

function repetition(token: string): string {
  if (!token.startsWith('{')) return token;
  const numbers = /^\{(\d+)(?:,(\d*))?\}$/.exec(token);
  if (numbers === null) {
    throw new RE2JSSyntaxException('{ begins no repetition such as {2} or {1,3}; write \\{ for the character');
  }
  if (numbers.slice(1).some((number) => Number(number ?? 0) > MAX_REPETITIONS)) {
    throw new RE2JSSyntaxException(`${token} asks for more than ${MAX_REPETITIONS} repetitions`);
  }
  return token;
}

function escaped(token: string): string {
  if (/[\p{L}\p{N}]/u.test(token)) {
    throw new RE2JSSyntaxException(
      `${token} has no meaning; a class is written [[:digit:]], [[:space:]] or [[:alnum:]]`,
    );
  }
  return token === '\\' ? token : RE2JS.quote(token.slice(1));
}

function bracket(token: string): string {
  if (token === '[') throw new RE2JSSyntaxException('[ is not closed; write \\[ for the character');
  const begin = token.startsWith('[^') ? '[^' : '[';
  const elements = token.slice(begin.length, -1);
  return `${begin}${elements.replace(/\[([.=:])(?:(\w*):\])?|[[\]\\^]/g, (element, kind?: string, name = '') => {
    if (kind === undefined) return `\\${element}`;
    const members = kind === ':' && Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
    if (members !== undefined) return members;
    throw new RE2JSSyntaxException(
      `[${kind} begins no class; there are ${Object.keys(CLASSES)
        .map((each) => `[:${each}:]`)
        .join(', ')}`,
    );
  })}]`;
}
