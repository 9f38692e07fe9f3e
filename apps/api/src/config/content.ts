import { errors } from '../errors.js';
import type { RowContent } from './draft.js';
import type { Verified } from './verify.js';

/** Arguments of a command: a JSON object's members. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Maximum length of the text of one value, characters. A value is parsed without yielding to the event loop. */
export const MAX_VALUE_LENGTH = 8_192;

/** @throws ApiError for a value of a JSON object whose text is longer than {@link MAX_VALUE_LENGTH}. */
export function refuseLong(name: string, value: unknown): void {
  const length = lengthOf(value);
  if (length > MAX_VALUE_LENGTH) throw errors.badProperty(name, `value of ${name}: ${tooLong(length)}`);
}

/** Length of the text of a JSON value, characters; for a list, of its elements with a comma after each. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce<number>((sum, each) => sum + lengthOf(each) + 1, 0) : 0;
}

/** Refusal of a text that is too long. */
export const tooLong = (length: number): string =>
  `it has ${length} characters, and ${MAX_VALUE_LENGTH} are accepted at most`;

/** Arguments without the ones that name the item. */
export function withoutItem(args: Arguments): Arguments {
  const { '.id': _id, numbers: _numbers, ...rest } = args;
  return rest;
}

/** The content of a verified row. @throws ApiError for the first property that is wrong. */
export function verifiedContent(verified: Verified): RowContent {
  if (verified.ok) return verified.content;
  const [{ property, detail }] = verified.errors;
  throw property === undefined ? errors.badRequest(detail) : errors.badProperty(property, detail);
}

/** Text of a command's own argument: strings, numbers, booleans and lists of those. */
export function argumentText(name: string, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return String(value);
    case 'boolean':
      return value ? 'yes' : 'no';
    default:
      if (Array.isArray(value)) return value.map((item) => argumentText(name, item)).join(',');
      throw errors.badProperty(name, `value of ${name} must be a text, a number, yes or no, or a list of those`);
  }
}
