/**
 * Kinds of values. Values are stored and sent as texts, in the spelling of RouterOS. A {@link Kind} parses a text into its
 * canonical form, formats it for people, and compares values.
 */

/** Result of {@link Kind.parse}: the canonical text, or the error, which says what is accepted. */
export type Parsed = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: string };

/** The target of references: a property of the rows of a menu. */
export interface Referent {
  readonly menu: string;
  readonly prop: string;
  /** The part of a value that names an item of the menu, where other parts name items of other menus. */
  readonly part?: string;
}

/** First and last address, as numbers. */
export interface AddressSpan {
  readonly first: bigint;
  readonly last: bigint;
}

/** Control of a dialog that edits a kind. */
export type Editor = 'check' | 'select' | 'set' | 'tri-set' | 'list' | 'number';

/**
 * A kind of value; there is one file for each under `props/`. Functions take canonical texts unless noted otherwise.
 */
export interface Kind {
  /** Name, e.g. `bool`, `ip-prefix`, `port-list`. */
  readonly name: string;
  /** Values that are accepted, for people and error messages, e.g. `an IPv4 prefix a.b.c.d/n`. */
  readonly accepts: string;
  /** Checks a text and brings it into canonical form. Never throws. */
  parse(text: string): Parsed;
  /** Text for people, e.g. `7.4 Gbps` for `7477000000`. Absent: the canonical text. */
  display?(value: string): string;
  /**
   * Shortest exact text that a field starts with, e.g. `20M` for `20000000`; {@link parse} gives the canonical text
   * back. Absent: the canonical text.
   */
  edit?(value: string): string;
  /** Order of two canonical texts, for sorting and `<`/`>` queries. Absent: order of the texts themselves. */
  compare?(a: string, b: string): number;
  /**
   * A number in the order of {@link compare}, so that long lists are sorted without parsing; undefined for a value
   * without one.
   */
  sortKey?(value: string): number | undefined;
  /**
   * Addresses of a value, for conditions such as `in 10.0.0.0/8`; undefined for a value without any. For a list: of one
   * element.
   */
  range?(value: string): AddressSpan | undefined;
  /**
   * Type of filter conditions: a `flag` is set or not, an `amount` is more or less, an `address` is `in` a network, a
   * `sentence` contains a text. Absent: a word.
   */
  readonly filterType?: 'flag' | 'amount' | 'address' | 'sentence';
  /** A port may follow the address: a condition on an address alone matches any port. */
  readonly withPort?: true;
  /** A share of a whole, which cells also show as a bar. */
  readonly share?: true;
  /** A text of the usual maximum width, for measured amounts, so that widths of columns are stable. */
  readonly widest?: string;
  /** Value that comparisons use for an item without this property. */
  readonly valueWhenUnset?: string;
  /** The canonical text of a stored value. Absent: the stored one. */
  fromStored?(stored: string): string;
  /** Closed set of words, for `enum` and `set` (and suggestions for `string`). */
  readonly values?: readonly string[];
  /** Words accepted beside the values of the kind. */
  readonly keywords?: readonly string[];
  /** Targets of the references in values. */
  readonly ref?: readonly Referent[];
  /** Referenced names need not exist: the first rule that names a chain, mark or address list creates it. */
  readonly implicit?: true;
  /** Names of {@link ref} that a value references; with `part`, those in that part alone. */
  references?(value: string, part?: string): readonly string[];
  /** The value with the reference `from` replaced by `to`, which may be any text; with `part`, in that part alone. */
  rename?(value: string, from: string, to: string, part?: string): string;
  /** Control that edits it. Absent: a text field, with suggestions if there are some. */
  readonly editor?: Editor;
  /** All values have a fixed form, so that a search for a text that is no value of the kind is refused. */
  readonly closedSet?: true;
  /** Two values of another kind, written `first/second`. */
  readonly pair?: PairOf;
  /** Unit shown beside the field, e.g. `bytes`. */
  readonly unit?: string;
  /** Numbers and rates are right-aligned. */
  readonly align?: 'right';
  /** JSON Schema of the value in REST requests, for OpenAPI. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
}

/** Kind and names of the two halves of a pair. */
export interface PairOf {
  readonly of: Kind;
  /** Names of the halves in columns, `['upload', 'download']`: `max-limit.upload`. */
  readonly names: readonly [string, string];
  /** The same for people, `['Upload', 'Download']`. */
  readonly labels: readonly [string, string];
  /** Titles of the two columns of fields in a dialog, `['Target Upload', 'Target Download']`. */
  readonly titles: readonly [string, string];
}
