import { type CharacterTest, type Node, RegexError } from './syntax.js';

/** Instructions for a search of an expression, as Thompson's construction gives them: each names where it goes on. */
type Instruction =
  | { readonly kind: 'character'; readonly test: CharacterTest; readonly next: number }
  | { readonly kind: 'begin' | 'end'; readonly next: number }
  | { readonly kind: 'split'; readonly next: readonly number[] }
  | { readonly kind: 'found' };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

/** Most instructions of a program: a search takes no more steps than these for each character. */
const MAX_INSTRUCTIONS = 500;

/**
 * Translates an expression.
 * @throws RegexError for one that takes too many instructions, as nested repetitions do
 */
export function programOf(node: Node): Program {
  const instructions: Instruction[] = [];
  const put = (instruction: Instruction): number => {
    if (instructions.length >= MAX_INSTRUCTIONS) throw new RegexError('it is too long, or repeats too much');
    return instructions.push(instruction) - 1;
  };
  /** Puts instructions that go on at `next` when the part has been found; returns the first of them. */
  const translate = (part: Node, next: number): number => {
    switch (part.kind) {
      case 'character':
        return put({ kind: 'character', test: part.test, next });
      case 'begin':
      case 'end':
        return put({ kind: part.kind, next });
      case 'sequence':
        return part.parts.reduceRight((after, each) => translate(each, after), next);
      case 'alternatives':
        return part.parts.length === 1 && part.parts[0] !== undefined
          ? translate(part.parts[0], next)
          : put({ kind: 'split', next: part.parts.map((each) => translate(each, next)) });
      case 'repeat': {
        const { part: repeated, least, most } = part;
        let first = next;
        if (most === Number.POSITIVE_INFINITY) {
          const body: number[] = [];
          first = put({ kind: 'split', next: body });
          body.push(translate(repeated, first), next);
        } else {
          for (let count = least; count < most; count += 1)
            first = put({ kind: 'split', next: [translate(repeated, first), next] });
        }
        for (let count = 0; count < least; count += 1) first = translate(repeated, first);
        return first;
      }
    }
  };
  const found = put({ kind: 'found' });
  return { start: translate(node, found), instructions };
}
