/**
 * What a menu is. One file under `menus/` declares one menu with these types; REST validation, OpenAPI,
 * the table and the dialog in the browser and the configuration compiler read the same declaration.
 */

import type { Command, Policy } from './command.js';
import type { Kind } from './kind.js';

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
  /** While it is not given it is what others make it. It is stored only where it was given as something else. */
  readonly derived?: Derived;
  /** Reaches the compiled configuration; a parity test checks that the compiler reads it. */
  readonly dataplane?: boolean;
}

/** How a property follows from others. */
export interface Derived {
  /** Those others: when one of them is changed, what was given before is forgotten. */
  readonly from: readonly string[];
  /** The value, of those that the row has; undefined where nothing follows. */
  value(values: Readonly<Record<string, string>>): string | undefined;
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
type MenuKind = 'list' | 'ordered' | 'fixed' | 'settings' | 'status-list' | 'status' | 'command';

/** A window with tabs for several menus, which stand in it in the order of the registry. */
export interface TabbedWindow {
  readonly title: string;
  /** Place in the menu tree. */
  readonly tree: readonly string[];
}

/** Width and height, px. */
export type WindowSize = readonly [width: number, height: number];

/** The window of a menu. */
interface MenuWindow {
  /** It is a tab of this one. */
  readonly tabOf?: TabbedWindow;
  /** Buttons of other menus open it, and the menu tree does not. */
  readonly openedBy?: { readonly label: string; readonly menus: readonly string[] };
  /** Size it is opened with; of a tab, that of the window whose first tab it is. */
  readonly size?: WindowSize;
  /** Size of the dialog of an item. */
  readonly dialogSize?: WindowSize;
}

/** What rows of other menus can reference, beside the item's name: a list or a mark that rows define. */
export interface ReferenceTarget {
  /** The property that holds the name. */
  readonly property: string;
  /** Noun in messages, before the name: `packet mark`. */
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
  /** Properties that together identify an item for people; the first names it in references and URLs. */
  readonly key?: readonly string[];
  /** Commands beside print, by name. */
  readonly commands: ReadonlyMap<string, Command>;
  /** What a menu of kind `command` does; its arguments are the properties. */
  readonly run?: Pick<Command, 'effect' | 'permission'>;
  /** Values change by themselves; how often a view refreshes, ms. */
  readonly refreshMs?: number;
  /**
   * Where its rows are: `stored` by the router, by commands of this menu; `live`, in the data plane or the process, or shown
   * of another menu; or a `union` of rows that are stored and of others that the system makes.
   */
  readonly source: 'stored' | 'live' | 'union';
  /** Items that the data plane made can be removed, though not changed. It `learns` them anew, or they are gone `for-good`. */
  readonly dynamicRemovable?: 'learns' | 'for-good';
  /** What other rows can reference. Absent: the name, where rows have one. */
  readonly referenceTargets?: readonly ReferenceTarget[];
  /** What becomes of a row that others name: removing it is `refused` (the default), or they `keep-name`. */
  readonly onReferencedRemove?: 'refused' | 'keep-name';
  /** Rows that are given no name are called by this and a number, `queue1`. */
  readonly autoName?: string;
  /** How its window is found, where that is not only the menu tree, and how large it is. */
  readonly window?: MenuWindow;
  /** `false`: its changes make no revision, so that nothing takes them back. */
  readonly undoable?: false;
  /** Its rows are interfaces of this type; with `any` it shows and changes the rows of the menus of all types. */
  readonly interfaceType?: string;
  /** Shows and changes the rows of this other menu (`/queue/interface` those of `/interface`). */
  readonly rowsOf?: string;
  /** Items that always exist: they are neither stored nor removed. */
  readonly builtin?: readonly BuiltinItem[];
  /** Those items can be set, though not renamed: what is changed of them is stored, under their ids. */
  readonly builtinSettable?: boolean;
  /** Properties of RouterOS that have one value here: giving it changes nothing, any other is refused. */
  readonly constants?: Readonly<Record<string, Constant>>;
}

/** A menu as its file under `menus/` writes it. */
export interface MenuDeclaration extends Omit<Menu, 'commands'> {
  /** Commands beside print: names of those that menus have in common, and declarations of its own. */
  readonly commands: readonly (string | Command)[];
  /** What changes of it are allowed to, `write` by default. */
  readonly policy?: Policy;
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
