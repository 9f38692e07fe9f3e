/**
 * What a kind of value is. Values are kept and sent as RouterOS spells them: text. A {@link Kind} knows how to check a
 * text, bring it into its one canonical form, show it to people and compare it.
 */

/** Result of {@link Kind.parse}: the canonical text, or what is wrong and what would be accepted. */
export type Parsed = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly error: string };

/** A kind of value: one file per kind under `props/`. */
export interface Kind {
  /** Name, e.g. `bool`, `ip-prefix`, `port-list`; picks the cell and the field in the browser. */
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
  /** Closed set of words, for `enum` and `set` (and suggestions for `string`). */
  readonly values?: readonly string[];
  /** Words accepted beside the values of the kind. */
  readonly also?: readonly string[];
  /** Menus whose items can be named, for references. */
  readonly ref?: readonly { readonly menu: string; readonly prop: string }[];
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
