/**
 * What a kind of value is. Values are kept and sent as RouterOS spells them: text. A {@link Kind} knows how to check a
 * text, bring it into its one canonical form, show it to people and compare it.
 */

/** Result of {@link Kind.parse}: the canonical text, or what is wrong and what would be accepted. */
export type Parsed = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: string };

/** A property of the rows of a menu that values of another property name. */
export interface Referent {
  readonly menu: string;
  readonly prop: string;
}

/** First and last address, as numbers. */
export interface AddressSpan {
  readonly first: bigint;
  readonly last: bigint;
}

/** Control of a dialog that edits a kind. */
export type Editor = 'check' | 'select' | 'set' | 'tri-set' | 'list' | 'number';

/** A kind of value: one file per kind under `props/`. Functions take canonical texts where nothing else is said. */
export interface Kind {
  /** Name, e.g. `bool`, `ip-prefix`, `port-list`. */
  readonly name: string;
  /** What is accepted, for people and error messages, e.g. `an IPv4 prefix a.b.c.d/n`. */
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
  /** Typed order of two canonical texts, for sorting and `<`/`>` queries. Absent: by text. */
  compare?(a: string, b: string): number;
  /** A number in the order of {@link compare}, so that long lists are sorted without parsing; undefined for a value without. */
  sortKey?(value: string): number | undefined;
  /** Addresses that a value stands for, which `in 10.0.0.0/8` is asked of; undefined for a value without. Of a list: of one element. */
  range?(value: string): AddressSpan | undefined;
  /** What conditions of a filter ask: of a `flag` whether it is set, of an `amount` more and less, of an `address` `in`, of a `sentence` what it contains. Absent: of a word. */
  readonly asked?: 'flag' | 'amount' | 'address' | 'sentence';
  /** A port may stand behind the address: an address alone means all that are of it. */
  readonly withPort?: true;
  /** A share of a whole, which cells also show as a bar. */
  readonly share?: true;
  /** As wide as texts of values usually become, so that columns stay where they are: of amounts, those that are measured. */
  readonly widest?: string;
  /** Value that an item without this property has in comparisons. */
  readonly absent?: string;
  /** The canonical text of a stored value. Absent: the stored one. */
  fromStored?(stored: string): string;
  /** Closed set of words, for `enum` and `set` (and suggestions for `string`). */
  readonly values?: readonly string[];
  /** Words accepted beside the values of the kind. */
  readonly also?: readonly string[];
  /** What values name. */
  readonly ref?: readonly Referent[];
  /** Nothing need be called so: a chain, a mark or a list of addresses is there as soon as a rule names it. */
  readonly implicit?: true;
  /** Names in a value of what {@link ref} tells. */
  references?(value: string): readonly string[];
  /** The value with the name `to` in the place of `from`. */
  rename?(value: string, from: string, to: string): string;
  /** Control that edits it. Absent: a text, with suggestions where there are some. */
  readonly editor?: Editor;
  /** All values are written in one of a few ways: other texts are looked for in vain. */
  readonly strict?: true;
  /** Two values of another kind, written `first/second`. */
  readonly pair?: PairOf;
  /** Unit shown beside the field, e.g. `bytes`. */
  readonly unit?: string;
  /** Numbers and rates are right-aligned. */
  readonly align?: 'right';
  /** JSON Schema of the value in REST requests, for OpenAPI. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
}

/** What the two halves of a pair are. */
export interface PairOf {
  readonly of: Kind;
  /** Names of the halves in columns, `['upload', 'download']`: `max-limit.upload`. */
  readonly names: readonly [string, string];
  /** The same for people, `['Upload', 'Download']`. */
  readonly labels: readonly [string, string];
  /** Titles of the two columns of fields in a dialog, `['Target Upload', 'Target Download']`. */
  readonly titles: readonly [string, string];
}
