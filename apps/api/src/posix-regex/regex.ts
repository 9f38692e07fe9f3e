/**
 * Search by extended regular expressions of POSIX in time that grows with the length of the text alone. JavaScript's own
 * expressions go back and try again, so that `(a+)+b` holds up a process for as long as the text is cruel.
 */

import { type Program, programOf } from './program.js';
import { parseRegex, RegexError } from './syntax.js';

/** The instructions at which a search stands after some characters, and where it goes on from there. */
interface Position {
  readonly places: readonly number[];
  /** Nothing has been read yet. */
  readonly isBegin: boolean;
  /** The expression has been found. */
  readonly isFound: boolean;
  /** It has been found if the text ends here; undefined before somebody asked. */
  isFoundAtEnd: boolean | undefined;
  readonly next: Map<number, Position>;
}

/** Positions that are remembered; then they are forgotten, and the search goes on without them. */
const MAX_POSITIONS = 1_000;
/** Ways on that are remembered of one position. */
const MAX_WAYS = 256;

/** An expression that texts are searched for. */
export class PosixRegex {
  readonly #program: Program;
  readonly #positions = new Map<string, Position>();
  #begin: Position | undefined;

  /** @throws RegexError whose message says what is wrong with the text */
  constructor(text: string) {
    this.#program = programOf(parseRegex(text));
  }

  /** Whether the expression is found anywhere in a text. */
  isFoundIn(text: string): boolean {
    this.#begin ??= this.#position([this.#program.start], true);
    let position = this.#begin;
    for (const character of text) {
      if (position.isFound) return true;
      position = this.#after(position, character.codePointAt(0) ?? 0);
    }
    if (position.isFound) return true;
    position.isFoundAtEnd ??= this.#reached(position.places, position.isBegin, true).isFound;
    return position.isFoundAtEnd;
  }

  #after(position: Position, codePoint: number): Position {
    const known = position.next.get(codePoint);
    if (known !== undefined) return known;
    // It may begin at every character.
    const places = [this.#program.start];
    for (const place of position.places) {
      const instruction = this.#program.instructions[place];
      if (instruction?.kind === 'character' && instruction.test(codePoint)) places.push(instruction.next);
    }
    const after = this.#position(places, false);
    if (position.next.size >= MAX_WAYS) position.next.clear();
    position.next.set(codePoint, after);
    return after;
  }

  #position(from: readonly number[], isBegin: boolean): Position {
    const { places, isFound } = this.#reached(from, isBegin, false);
    const key = `${isBegin ? '^' : ''}${isFound ? '!' : ''}${places.join()}`;
    let position = this.#positions.get(key);
    if (position === undefined) {
      if (this.#positions.size >= MAX_POSITIONS) this.#forget();
      position = { places, isBegin, isFound, isFoundAtEnd: undefined, next: new Map() };
      this.#positions.set(key, position);
    }
    return position;
  }

  #forget(): void {
    for (const position of this.#positions.values()) position.next.clear();
    this.#positions.clear();
    this.#begin = undefined;
  }

  /** The instructions that read a character or wait for the end, from some on, without reading anything. */
  #reached(from: readonly number[], isBegin: boolean, isEnd: boolean): { places: number[]; isFound: boolean } {
    const seen = new Set<number>();
    const places: number[] = [];
    const left = [...from];
    let isFound = false;
    for (let place = left.pop(); place !== undefined; place = left.pop()) {
      if (seen.has(place)) continue;
      seen.add(place);
      const instruction = this.#program.instructions[place];
      switch (instruction?.kind) {
        case 'split':
          left.push(...instruction.next);
          break;
        case 'begin':
          if (isBegin) left.push(instruction.next);
          break;
        case 'end':
          if (isEnd) left.push(instruction.next);
          else places.push(place);
          break;
        case 'character':
          places.push(place);
          break;
        case 'found':
          isFound = true;
          break;
        case undefined:
          break;
      }
    }
    return { places: places.sort((a, b) => a - b), isFound };
  }
}

/** What is wrong with the text of an expression; undefined when it is one. */
export function regexProblem(text: string): string | undefined {
  try {
    new PosixRegex(text);
    return undefined;
  } catch (error) {
    if (error instanceof RegexError) return error.message;
    throw error;
  }
}
