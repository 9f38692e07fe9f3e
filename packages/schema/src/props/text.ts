import type { Kind, Referent } from '../kind.js';
import { missingElement, namesInList, renameInList, renameOne } from './comma-list.js';
import { hasControl, hasDirection, quoted } from './quoted.js';

interface TextOptions {
  /** Maximum length, characters. */
  readonly max?: number;
  /** Also refuses line ends, tabs and bidirectional formatting characters. */
  readonly oneLine?: boolean;
  /** Suggestions. */
  readonly values?: readonly string[];
}

interface NameOptions extends TextOptions {
  /** Properties that define such names; the names need not exist. */
  readonly ref?: readonly Referent[];
}

interface FreeTextOptions extends TextOptions {
  readonly min?: number;
  /** Filters search for parts of the text, as users rarely know it completely. */
  readonly sentence?: boolean;
  /** Also accepts control characters, which the reader of the value must escape. */
  readonly controls?: boolean;
}

/** Free text. */
export function text({
  min = 0,
  max = 1024,
  oneLine = false,
  values,
  sentence = false,
  controls = false,
}: FreeTextOptions = {}): Kind {
  const length = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  const accepts = `text of ${length} characters${oneLine ? ' in one line' : ''}`;
  return {
    name: 'string',
    accepts,
    parse(value) {
      if (value.length < min) return { ok: false, error: `the text is too short (${accepts})` };
      if (value.length > max) return { ok: false, error: `${quoted(value)} is too long (${accepts})` };
      if (!controls && hasControl(oneLine ? value : value.replace(/[\t\n]/g, '')))
        return { ok: false, error: `${quoted(value)} holds control characters (${accepts})` };
      if (oneLine && hasDirection(value))
        return { ok: false, error: `${quoted(value)} holds marks that turn the direction of writing (${accepts})` };
      return { ok: true, value };
    },
    ...(values ? { values } : {}),
    ...(sentence ? { filterType: 'sentence' } : {}),
    jsonSchema: { type: 'string', ...(min > 0 && { minLength: min }), maxLength: max },
  };
}

/**
 * Name of an item or chain: not empty, no control or bidirectional formatting characters, no leading `!` or `*` (they
 * mean "not" and row ids).
 */
export function name({ max = 63, values, ref }: NameOptions = {}): Kind {
  return nameKind(/^[^!*,\s]([^,]*[^,\s])?$/, {
    accepts: `a name of 1 to ${max} characters without commas that starts with neither ! nor *, and with no space at either end`,
    max,
    values,
    ref,
  });
}

/**
 * Name of a user: suitable for Basic authentication, and consisting of characters that are easy to distinguish and to
 * type.
 */
export const userName: Kind = nameKind(/^[A-Za-z0-9][A-Za-z0-9._@+-]*$/, {
  accepts:
    'a name of 1 to 64 letters a-z and A-Z, digits, dots, dashes, underscores, plus and at signs that starts with a letter or digit',
  max: 64,
});

/** Comma list of names, each once; the empty text is the empty list. */
export function nameList(options: NameOptions = {}): Kind {
  const one = name(options);
  const accepts = 'a comma list of names that start with neither ! nor *';
  return {
    name: 'name-list',
    accepts,
    parse(value) {
      const missing = missingElement(value, 'a name');
      if (missing !== undefined) return { ok: false, error: `${missing}; give ${accepts}` };
      const names = value.trim() === '' ? [] : value.split(',').map((part) => part.trim());
      if (!names.every((part) => one.parse(part).ok)) return { ok: false, error: `${quoted(value)} is not ${accepts}` };
      return { ok: true, value: [...new Set(names)].join(',') };
    },
    ...(one.values ? { values: one.values } : {}),
    ...(one.ref ? { ref: one.ref, implicit: true, references: namesInList, rename: renameInList } : {}),
    editor: 'list',
    jsonSchema: { type: 'string' },
  };
}

/** A {@link name} without slashes, suitable for one half of a pair of names. */
export const nameInPair: Kind = nameKind(/^[^!*,/\s]([^,/]*[^,/\s])?$/, {
  accepts:
    'a name of 1 to 63 characters without commas and slashes that starts with neither ! nor *, and with no space at either end',
  max: 63,
});

/** Name of a queue. It may contain commas, as in `Doe, John`: no list separates names of queues by commas. */
export const queueName: Kind = nameKind(/^[^!*\s](.*\S)?$/, {
  accepts: 'a name of 1 to 255 characters that starts with neither ! nor *, and with no space at either end',
  max: 255,
});

/**
 * Name of an interface: suitable for next hops, lists and Linux alternative names, and different from addresses and
 * from keywords that are accepted in place of an interface: all, global, aggregate, all-ethernet, all-vlan. Services see the interface
 * under this name, besides their own loopback and the devices tw1, tw2 … that carry its packets.
 */
export const interfaceName: Kind = nameKind(
  /^(?=.*[A-Za-z])(?!all-|(?:all|global|aggregate|lo|tw\d+)$)[A-Za-z0-9][A-Za-z0-9._+-]*$/,
  {
    accepts:
      'a name of 1 to 32 letters, digits, dots, dashes, plus signs and underscores with at least one letter, not starting with all-, and none of all, global, aggregate, lo and tw with a number',
    max: 32,
  },
);

/** Name of a file without a folder: it cannot refer to a file outside of its folder. */
export const fileName: Kind = nameKind(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, {
  accepts: 'a name of 1 to 64 letters, digits, dots, dashes and underscores that starts with neither a dot nor a dash',
  max: 64,
});

interface NameShape {
  readonly accepts: string;
  readonly max: number;
  readonly values?: readonly string[] | undefined;
  readonly ref?: readonly Referent[] | undefined;
}

/** Requirement that is mentioned only when it is violated, as such characters are invisible. */
const VISIBLE = ', and without control characters and marks that turn the direction of writing';

function nameKind(pattern: RegExp, { accepts, max, values, ref }: NameShape): Kind {
  return {
    name: 'name',
    accepts,
    parse(value) {
      if (hasControl(value) || hasDirection(value)) {
        return { ok: false, error: `${quoted(value)} is not ${accepts}${VISIBLE}` };
      }
      if (value.length <= max && pattern.test(value)) return { ok: true, value };
      return { ok: false, error: `${quoted(value)} is not ${accepts}` };
    },
    ...(values ? { values } : {}),
    ...(ref ? { ref, implicit: true, references: (value: string) => [value], rename: renameOne } : {}),
    jsonSchema: { type: 'string', minLength: 1, maxLength: max },
  };
}

/** Password: any text. */
export function secret({ min = 8, max = 256 } = {}): Kind {
  const accepts = `a password of ${min} to ${max} characters`;
  return {
    name: 'secret',
    accepts,
    parse: (value) =>
      value.length < min || value.length > max
        ? {
            ok: false,
            error: `the text has ${value.length === 1 ? 'one character' : `${value.length} characters`}; give ${accepts}`,
          }
        : { ok: true, value },
    jsonSchema: { type: 'string', format: 'password', minLength: min, maxLength: max },
  };
}
