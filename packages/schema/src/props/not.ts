import type { Kind } from '../kind.js';

/** A leading `!` of the value of a property whose value may be inverted, and the rest. */
export function splitNot(value: string): { readonly negate: boolean; readonly text: string } {
  return value.startsWith('!') ? { negate: true, text: value.slice(1) } : { negate: false, text: value };
}

/** The same kind with an optional leading `!` that inverts the match. */
export function withNot(kind: Kind): Kind {
  const { display, compare, references, rename } = kind;
  return {
    ...kind,
    accepts: `${kind.accepts}, optionally with a leading !`,
    parse(text) {
      const { negate, text: rest } = splitNot(text);
      const parsed = kind.parse(negate ? rest.trimStart() : rest);
      return parsed.ok && negate ? { ok: true, value: `!${parsed.value}` } : parsed;
    },
    ...(display
      ? {
          display: (value: string) => {
            const { negate, text } = splitNot(value);
            return `${negate ? '!' : ''}${display(text)}`;
          },
        }
      : {}),
    ...(references ? { references: (value: string) => references(splitNot(value).text) } : {}),
    ...(rename
      ? {
          rename: (value: string, from: string, to: string) => {
            const { negate, text } = splitNot(value);
            return `${negate ? '!' : ''}${rename(text, from, to)}`;
          },
        }
      : {}),
    ...(compare
      ? {
          compare: (a: string, b: string) => {
            const left = splitNot(a);
            const right = splitNot(b);
            return compare(left.text, right.text) || Number(left.negate) - Number(right.negate);
          },
        }
      : {}),
  };
}
