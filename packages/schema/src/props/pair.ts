import type { Kind, PairOf } from '../kind.js';
import { quoted } from './quoted.js';

/** Two values of one kind, `first/second`; a single value is used for both. The values contain no slash. */
function pair(of: Kind, parts: Omit<PairOf, 'of'>): Kind {
  const { names } = parts;
  const eachHalf = (text: (half: string) => string) => (value: string) => value.split('/').map(text).join('/');
  const accepts = `${of.accepts}, as ${names[0]}/${names[1]} or one for both`;
  return {
    name: 'pair',
    accepts,
    parse(text) {
      const halves = text.split('/');
      const [first = '', second = first] = halves;
      const [one, other] = [of.parse(first.trim()), of.parse(second.trim())];
      if (halves.length > 2 || (halves.length < 2 && !one.ok)) {
        return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      }
      // The error names only the invalid half.
      if (!one.ok) return { ok: false, error: `${names[0]}: ${one.error}` };
      if (!other.ok) return { ok: false, error: `${names[1]}: ${other.error}` };
      return { ok: true, value: `${one.value}/${other.value}` };
    },
    ...(of.display && { display: eachHalf((half) => of.display?.(half) ?? half) }),
    ...(of.edit && { edit: eachHalf((half) => of.edit?.(half) ?? half) }),
    compare(a, b) {
      const [left, right] = [a.split('/'), b.split('/')];
      const order = (at: number): number => {
        const [x = '', y = ''] = [left[at], right[at]];
        return of.compare ? of.compare(x, y) : x < y ? -1 : x > y ? 1 : 0;
      };
      return order(0) || order(1);
    },
    pair: { of, ...parts },
    ...(of.values && { values: of.values }),
    ...(of.ref && { ref: of.ref }),
    ...(of.references && {
      references: (value: string) => value.split('/').flatMap((half) => of.references?.(half) ?? []),
    }),
    ...(of.rename && {
      rename: (value: string, from: string, to: string) =>
        eachHalf((half) => of.rename?.(half, from, to) ?? half)(value),
    }),
    ...(of.unit && { unit: of.unit }),
    ...(of.align && { align: of.align }),
    jsonSchema: { type: ['string', 'integer'] },
  };
}

/** Upload and download of a simple queue's target. */
export const upDown = (of: Kind): Kind =>
  pair(of, {
    names: ['upload', 'download'],
    labels: ['Upload', 'Download'],
    titles: ['Target Upload', 'Target Download'],
  });
