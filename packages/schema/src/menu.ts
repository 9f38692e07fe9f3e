/**
 * Declarations of menus, one file for each under `menus/`. REST validation, OpenAPI, tables, dialogs and the compiler follow
 * from them.
 */

import type { Command, Policy } from './command.js';
import type { Kind } from './kind.js';

/** A property of a menu. */
export interface Prop {
  readonly kind: Kind;
  /** Label as RouterOS prints it: `Src. Address`. */
  readonly label: string;
  /** Description in one sentence. */
  readonly help: string;
  /** Tab of the dialog. */
  readonly tab: string;
  /** Value in force when the user gives none. */
  readonly default?: string;
  /** Initial value in the dialog of a new item, for properties without a default. */
  readonly proposed?: string;
  /** Required on add. */
  readonly required?: boolean;
  /** Set by the system; refused in add and set. */
  readonly readOnly?: boolean;
  /** Optional, and can be removed again with `!name`, an empty text or `unset`. */
  readonly unset?: boolean;
  /** A leading `!` inverts it. */
  readonly not?: boolean;
  /** Never sent back (passwords). */
  readonly secret?: boolean;
  /** Shown in the dialog only when another property has one of these values. */
  readonly when?: { readonly prop: string; readonly values: readonly string[] };
  /** Value that follows from other properties, unless it is set. Only a different value is stored. */
  readonly derived?: Derived;
  /** The time at which a row is added is stored as its value. */
  readonly stampedOnAdd?: true;
  /** The toolbar has a list of its values, and the chosen value filters the table. */
  readonly quickFilter?: QuickFilterOf;
  /** Its column stays in view at the right edge while the others scroll, if it is at the end of the table. */
  readonly pinned?: true;
  /** Whether the compiler uses it; `compile.test.ts` of the API checks this. */
  readonly dataplane?: boolean;
}

/** List of values in the toolbar. */
interface QuickFilterOf {
  /** Absent: the label of the property. */
  readonly label?: string;
  /** Entry for no filter, `all chains`; `all` itself is the name of an interface list. */
  readonly all: string;
  /** Operator that compares the property with the chosen value. */
  readonly op: 'is' | 'contains';
}

/** Rule that derives a property from other properties. */
export interface Derived {
  /** Other properties: a change of one of them discards an explicitly set value. Without any it stays until it is set anew. */
  readonly from: readonly string[];
  /** The derived value; undefined for none. */
  value(values: Readonly<Record<string, string>>): string | undefined;
}

/** A one-letter flag in the first column, shown while its boolean property is true. */
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
type MenuKind = 'list' | 'ordered' | 'fixed' | 'settings' | 'status-list' | 'status' | 'command';

/** A window with tabs for several menus, in the order of the registry. */
export interface TabbedWindow {
  readonly title: string;
  /** Place in the menu tree. */
  readonly tree: readonly string[];
}

/** Width and height, px. */
export type WindowSize = readonly [width: number, height: number];

/** The window of a menu. */
interface MenuWindow {
  /** Window of which this one is a tab. */
  readonly tabOf?: TabbedWindow;
  /** Buttons of other menus open it; it has no entry in the menu tree. */
  readonly openedBy?: { readonly label: string; readonly menus: readonly string[] };
  /** Initial size; for a menu in a window with tabs, only the size of the first tab is used. */
  readonly size?: WindowSize;
  /** Size of the dialog of an item. */
  readonly dialogSize?: WindowSize;
}

/**
 * A name that rows of other menus can reference, in addition to the item's own name: a list or a mark that rows define.
 */
export interface ReferenceTarget {
  /** The property that holds the name. */
  readonly property: string;
  /** Noun before the name in messages: `packet mark`. */
  readonly word: string;
  /** A row defines it only while another property has this value. */
  readonly when?: { readonly prop: string; readonly value: string };
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
  /**
   * Properties that together identify an item for people; the first one identifies it in references and URLs. If it is
   * `name`, names are unique, and built-in items cannot be renamed.
   */
  readonly key?: readonly string[];
  /** Noun for an item in errors about names in use, if RouterOS does not use {@link singular}. */
  readonly noun?: string;
  /** Commands beside print, by name. */
  readonly commands: ReadonlyMap<string, Command>;
  /** The command that a menu of kind `command` is. Its arguments are properties, so that the window has fields for them. */
  readonly run?: Command;
  /** Property with topics of the log: `error`, `critical` and `warning` determine the colour of a row. */
  readonly severity?: string;
  /** Interval at which views refresh values that change by themselves, ms. */
  readonly refreshMs?: number;
  /**
   * Source of the rows: `stored` in the configuration by commands of this menu; `live` from the data plane, the process or
   * another menu; or a `union` of stored and dynamic rows.
   */
  readonly source: 'stored' | 'live' | 'union';
  /**
   * Dynamic items can be removed, but not changed: either the data plane learns them again (`relearned`), or the
   * removal is `permanent`.
   */
  readonly dynamicRemovable?: 'relearned' | 'permanent';
  /** Names that other rows can reference. Absent: the name, where rows have one. */
  readonly referenceTargets?: readonly ReferenceTarget[];
  /**
   * Removal of a referenced row: it is `refused` (the default), or the references `keep-name`, although the row no
   * longer exists.
   */
  readonly onReferencedRemove?: 'refused' | 'keep-name';
  /** Rows without a name get this name with a number appended, `queue1`. */
  readonly autoName?: string;
  /** Window of the menu: how it is opened other than by the menu tree, and its size. */
  readonly window?: MenuWindow;
  /** `false`: its changes make no revision and cannot be undone. */
  readonly undoable?: false;
  /** Its rows are users: a user who removes or disables the own row is logged out. */
  readonly logins?: true;
  /** Type of the interfaces that its rows are; a menu with `any` shows and changes the interfaces of all types. */
  readonly interfaceType?: string;
  /** Another menu whose rows it shows and changes (`/queue/interface` those of `/interface`). */
  readonly rowsOf?: string;
  /** Built-in items, which always exist and cannot be removed. */
  readonly builtin?: readonly BuiltinItem[];
  /** Built-in items can be changed, except for their names: the changes are stored under their ids. */
  readonly builtinSettable?: boolean;
  /**
   * Properties of RouterOS with a single supported value, which is accepted and has no effect; other values are
   * refused.
   */
  readonly constants?: Readonly<Record<string, Constant>>;
}

/** A menu as its file under `menus/` writes it. */
export interface MenuDeclaration extends Omit<Menu, 'commands'> {
  /** Commands in addition to `print`: names of common commands, and declarations. */
  readonly commands: readonly (string | Command)[];
  /** Permission for changes, `write` by default. */
  readonly policy?: Policy;
}

/** The supported value of a property in {@link Menu.constants}, in canonical form, and its kind. */
export interface Constant {
  readonly kind: Kind;
  readonly value: string;
}

/** A property of a menu by its name; undefined where it has none. */
export const propOf = ({ props }: Pick<Menu, 'props'>, name: string): Prop | undefined =>
  Object.hasOwn(props, name) ? props[name] : undefined;

/** Whether items of a menu reference another item of the menu as their parent. */
export const isTree = ({ props }: Menu): boolean => props.parent !== undefined && props.name !== undefined;

/** First of the row ids that are reserved for built-in items. */
export const FIRST_BUILTIN_ROW = 0x200_0000;

/** An item of {@link Menu.builtin}. */
export interface BuiltinItem {
  /** Row id, from {@link FIRST_BUILTIN_ROW} on. */
  readonly id: number;
  readonly values: Readonly<Record<string, string>>;
}
