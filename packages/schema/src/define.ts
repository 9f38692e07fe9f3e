/**
 * What a menu is. One file under `menus/` declares one menu with these types; REST validation, OpenAPI,
 * the table and the dialog in the browser and the configuration compiler read the same declaration.
 *
 * Values are kept and sent as RouterOS spells them: text. A {@link Kind} knows how to check a text, bring
 * it into its one canonical form, show it to people and compare it.
 */

import { menuColumn } from './column.js';

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

/** A property of a menu. */
export interface Prop {
  readonly kind: Kind;
  /** Label as RouterOS prints it: `Src. Address`. */
  readonly label: string;
  /** One sentence. */
  readonly help: string;
  /** Tab of the dialog. */
  readonly tab: string;
  /** Value in force when the user gives none. */
  readonly default?: string;
  /** What the dialog of a new item starts with, where no value is in force by itself. */
  readonly proposed?: string;
  /** Must be given on add. */
  readonly required?: boolean;
  /** Computed by the system; refused in add and set. */
  readonly readOnly?: boolean;
  /** May be absent, and can be removed again with `!name`, an empty text or `unset`. */
  readonly unset?: boolean;
  /** A leading `!` inverts it. */
  readonly not?: boolean;
  /** Never sent back (passwords). */
  readonly secret?: boolean;
  /** Shown in the dialog only when another property has one of these values. */
  readonly when?: { readonly prop: string; readonly values: readonly string[] };
  /** Reaches the compiled configuration; a parity test checks that the compiler reads it. */
  readonly dataplane?: boolean;
}

/** A one-letter flag in the first column: the letter stands when the boolean property is true. */
export interface Flag {
  readonly letter: string;
  readonly prop: string;
  readonly title: string;
}

/**
 * `list` items in no order; `ordered` position matters (`move`, `place-before`, `place-after`); `fixed` items exist by
 * themselves and can only be changed (ports); `settings` one object; `status-list` and `status` are
 * read-only views of live state (`remove` may exist); `command` runs (`/tool/profile`).
 */
export type MenuKind = 'list' | 'ordered' | 'fixed' | 'settings' | 'status-list' | 'status' | 'command';

/** An argument of a {@link Call}. */
export interface Argument {
  readonly help: string;
  readonly required?: boolean;
}

/** A command that programs run and that no window has a button for. */
export interface Call {
  /** One sentence. */
  readonly help: string;
  readonly args: Readonly<Record<string, Argument>>;
  /** Properties of the rows that it answers; none when it answers nothing. */
  readonly answers: readonly string[];
}

/** A menu. */
export interface Menu {
  /** REST path, `/ip/firewall/filter`. */
  readonly path: string;
  /** Title of its window: `Filter Rules`. */
  readonly title: string;
  /** Title of an item's dialog: `Firewall Rule`. */
  readonly singular: string;
  readonly kind: MenuKind;
  /** Place in the menu tree, e.g. `['IP', 'Firewall', 'Filter Rules']`. */
  readonly tree: readonly string[];
  readonly help: string;
  readonly props: Readonly<Record<string, Prop>>;
  readonly flags: readonly Flag[];
  /** Columns shown at first, in order, without the flag column; `max-limit.upload` is half of a pair. */
  readonly columns: readonly string[];
  /** Tabs of the dialog in order. */
  readonly tabs: readonly string[];
  /** Properties that together identify an item for people; the first names it in references and URLs. */
  readonly key?: readonly string[];
  /** Commands beside print: `add set remove enable disable comment move unset reset-counters …`. */
  readonly commands: readonly string[];
  /** Commands for programs, by name. */
  readonly calls?: Readonly<Record<string, Call>>;
  /** Values change by themselves; how often a view refreshes, ms. */
  readonly refreshMs?: number;
  /** Configuration rows (stored) as opposed to live state only. */
  readonly stored: boolean;
  /** Items that the data plane made can be removed, though not changed. It `learns` them anew, or they are gone `for-good`. */
  readonly dynamicRemovable?: 'learns' | 'for-good';
  /** `false`: its changes make no revision, so that nothing takes them back. */
  readonly undoable?: false;
  /** Shows and changes the rows of this other menu (`/interface` those of `/interface/ethernet`). */
  readonly rowsOf?: string;
  /** Items that always exist: they are neither stored nor removed. */
  readonly builtin?: readonly BuiltinItem[];
  /** Those items can be set, though not renamed: what is changed of them is stored, under their ids. */
  readonly builtinSettable?: boolean;
  /** Properties of RouterOS that have one value here: giving it changes nothing, any other is refused. */
  readonly constants?: Readonly<Record<string, Constant>>;
}

/** The one value of a property in {@link Menu.constants}, canonical, and how it is spelled. */
export interface Constant {
  readonly kind: Kind;
  readonly value: string;
}

/** First of the row ids that are kept for items that always exist. */
export const FIRST_BUILTIN_ROW = 0x200_0000;

/** An item of {@link Menu.builtin}. */
export interface BuiltinItem {
  /** Row id, from {@link FIRST_BUILTIN_ROW} on. */
  readonly id: number;
  readonly values: Readonly<Record<string, string>>;
}

/** A leading `!` of the value of a property with {@link Prop.not}, and the rest. */
export function splitNot(value: string): { readonly negate: boolean; readonly text: string } {
  return value.startsWith('!') ? { negate: true, text: value.slice(1) } : { negate: false, text: value };
}

/**
 * Declares a menu and refuses what cannot be meant.
 *
 * @throws Error naming the menu, the property and the contradiction; a wrong declaration fails at import.
 */
export function defineMenu(menu: Menu): Menu {
  const problems: string[] = [];
  for (const [name, prop] of Object.entries(menu.props)) {
    const say = (text: string): void => void problems.push(`${name}: ${text}`);
    if (prop.readOnly && (prop.required || prop.unset || prop.secret || prop.when)) {
      say('readOnly goes with neither required, unset, secret nor when');
    }
    if (prop.readOnly && prop.default !== undefined) say('readOnly with a default');
    if (prop.required && prop.unset) say('required and unset');
    if (prop.required && prop.default !== undefined) say('required with a default');
    if (!menu.tabs.includes(prop.tab)) say(`tab ${prop.tab} is not among the tabs`);
    if (prop.default !== undefined) {
      const parsed = prop.kind.parse(prop.default);
      if (!parsed.ok) say(`default ${parsed.error}`);
      else if (parsed.value !== prop.default) say(`default ${prop.default} is not canonical (${parsed.value})`);
    }
    const when = prop.when && menu.props[prop.when.prop];
    if (prop.when && !when) say(`when names ${prop.when.prop}, which is no property`);
    for (const value of (when && prop.when?.values) ?? []) {
      const parsed = when?.kind.parse(value);
      if (parsed && (!parsed.ok || parsed.value !== value)) say(`when names ${value}, no value of its property`);
    }
  }
  for (const [name, { kind, value }] of Object.entries(menu.constants ?? {})) {
    const parsed = kind.parse(value);
    if (!parsed.ok || parsed.value !== value) problems.push(`constant ${name}: ${value} is not canonical`);
    if (menu.props[name]) problems.push(`constant ${name} is a property`);
  }
  for (const column of menu.columns) if (!menuColumn(menu, column)) problems.push(`column ${column} is no property`);
  for (const flag of menu.flags) {
    if (menu.props[flag.prop]?.kind.name !== 'bool')
      problems.push(`flag ${flag.letter} needs a bool property ${flag.prop}`);
  }
  for (const key of menu.key ?? []) if (!menu.props[key]) problems.push(`key ${key} is no property`);
  if (problems.length > 0) throw new Error(`${menu.path}: ${problems.join('; ')}`);
  return menu;
}
