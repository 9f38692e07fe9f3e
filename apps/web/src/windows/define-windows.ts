/**
 * The windows of the console: their tabs, which are menus that share a window, and their places in the menu tree, both
 * as declared by the menus.
 */
import type { MenuOutline, WindowSize } from '@tollway/schema';

/** A button of a tab that opens another window. */
interface RelatedWindow {
  readonly label: string;
  readonly address: string;
}

/** One tab of a window. A window with one tab shows no tabs. */
export interface Tab {
  /** Address of its content: the path of a menu, {@link DASHBOARD}, {@link HISTORY} or {@link QUEUE_IMPORT}. */
  readonly address: string;
  readonly label: string;
  readonly relatedWindows: readonly RelatedWindow[];
}

/** A window of the console: its tabs, its title, and its place in the menu tree. */
export interface WindowDefinition {
  /** Address of the first tab; names the window. */
  readonly key: string;
  readonly title: string;
  /** Labels from the root of the menu tree; undefined for a window that a button of another window opens. */
  readonly tree: readonly string[] | undefined;
  readonly tabs: readonly [Tab, ...Tab[]];
}

/** Address of the overview, which belongs to no menu. */
export const DASHBOARD = '/dashboard';
/** Address of the history of the configuration. */
export const HISTORY = '/system/history';
/** Address of the list of subscribers that becomes queues. */
export const QUEUE_IMPORT = '/queue/simple/import';

/** A window that belongs to no menu. Its content is `standalone-window.tsx` of the folder that is named as its address. */
export interface StandaloneWindow {
  readonly address: string;
  readonly title: string;
  /** Place in the menu tree; undefined for a window that only a button opens. */
  readonly tree?: readonly string[];
  readonly size: WindowSize;
  /** The button that opens it, and the menu above whose list the button is shown. */
  readonly openedBy?: { readonly label: string; readonly menu: string };
  /** The menu to which the window only adds items: users who may not add items there cannot open it. */
  readonly addsTo?: string;
}

/** All windows that belong to no menu. */
export const STANDALONE_WINDOWS: readonly StandaloneWindow[] = [
  { address: DASHBOARD, title: 'Dashboard', tree: ['Dashboard'], size: [1180, 760] },
  { address: HISTORY, title: 'History', tree: ['System', 'History'], size: [900, 520] },
  {
    address: QUEUE_IMPORT,
    title: 'Import Subscribers',
    size: [860, 640],
    openedBy: { label: 'Import', menu: '/queue/simple' },
    addsTo: '/queue/simple',
  },
];

/** The first level of the tree, in the order that RouterOS users expect; other entries come last. */
const TOP = ['Dashboard', 'Interfaces', 'IP', 'IPv6', 'Routing', 'System', 'Queues', 'Files', 'Log', 'Tools'];

function tabFor(menu: MenuOutline, menus: readonly MenuOutline[]): Tab {
  const opened = menus.flatMap(({ path, window }): RelatedWindow[] =>
    window?.openedBy?.menus.includes(menu.path) ? [{ label: window.openedBy.label, address: path }] : [],
  );
  const standalone = STANDALONE_WINDOWS.flatMap(({ address, openedBy }): RelatedWindow[] =>
    openedBy?.menu === menu.path ? [{ label: openedBy.label, address }] : [],
  );
  return { address: menu.path, label: menu.tree.at(-1) ?? menu.title, relatedWindows: [...opened, ...standalone] };
}

function windowOfTabs(
  title: string,
  tree: readonly string[] | undefined,
  tabs: readonly Tab[],
): readonly WindowDefinition[] {
  const [first, ...rest] = tabs;
  return first === undefined ? [] : [{ key: first.address, title, tree, tabs: [first, ...rest] }];
}

function inTreeOrder(a: WindowDefinition, b: WindowDefinition): number {
  const rank = (definition: WindowDefinition) => {
    const at = TOP.indexOf(definition.tree?.[0] ?? '');
    return at < 0 ? TOP.length : at;
  };
  const text = (definition: WindowDefinition) => (definition.tree ?? []).join('\u0000');
  return rank(a) - rank(b) || (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
}

/** All windows, in the order of the menu tree. */
export function defineWindows(menus: readonly MenuOutline[]): readonly WindowDefinition[] {
  const tabs = (some: readonly MenuOutline[]) => some.map((menu) => tabFor(menu, menus));
  const titles = new Set(menus.flatMap(({ window }) => window?.tabOf?.title ?? []));
  const shared = [...titles].flatMap((title) => {
    const together = menus.filter(({ window }) => window?.tabOf?.title === title);
    return windowOfTabs(title, together[0]?.window?.tabOf?.tree, tabs(together));
  });
  const single = menus
    .filter(({ window }) => window?.tabOf === undefined)
    .flatMap((menu) =>
      windowOfTabs(menu.title, menu.window?.openedBy === undefined ? menu.tree : undefined, tabs([menu])),
    );
  const standalone = STANDALONE_WINDOWS.flatMap(({ address, title, tree }) =>
    windowOfTabs(title, tree, [{ address, label: title, relatedWindows: [] }]),
  );
  return [...shared, ...single, ...standalone].sort(inTreeOrder);
}
