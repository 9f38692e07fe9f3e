/**
 * Which menus share a window, as tabs of it, and where the window stands in the menu tree. A menu that is not named
 * here has a window of its own. Adding a menu needs no change here.
 */
import { type Menu, menuByPath, registry } from '@tollway/schema';

/** A button of a tab that opens another window. */
export interface RelatedWindow {
  readonly label: string;
  readonly address: string;
}

/** One tab of a window. A window with one tab shows no tabs. */
export interface Page {
  /** What the window shows: the path of a menu, {@link DASHBOARD}, {@link HISTORY} or {@link QUEUE_IMPORT}. */
  readonly address: string;
  readonly label: string;
  readonly relatedWindows: readonly RelatedWindow[];
}

export interface Group {
  /** Address of the first tab; names the group. */
  readonly key: string;
  readonly title: string;
  /** Labels from the root of the menu tree; undefined for a window that a button of another window opens. */
  readonly tree: readonly string[] | undefined;
  readonly pages: readonly [Page, ...Page[]];
}

/** Address of the overview, which belongs to no menu. */
export const DASHBOARD = '/dashboard';
/** Address of the history of the configuration. */
export const HISTORY = '/system/history';
/** Address of the list of subscribers that becomes queues. */
export const QUEUE_IMPORT = '/queue/simple/import';

/** The menu to which a window only adds items: it is nothing for those who may not. */
export const addsTo = (address: string): Menu | undefined =>
  address === QUEUE_IMPORT ? menuByPath('/queue/simple') : undefined;

interface Shared {
  readonly title: string;
  readonly tree: readonly string[];
  /** Menus in the order of their tabs. */
  readonly tabs: readonly string[];
}

const SHARED: readonly Shared[] = [
  {
    title: 'Interface List',
    tree: ['Interfaces'],
    tabs: ['/interface', '/interface/list/member', '/interface/ethernet'],
  },
  {
    title: 'Firewall',
    tree: ['IP', 'Firewall'],
    tabs: [
      '/ip/firewall/filter',
      '/ip/firewall/nat',
      '/ip/firewall/mangle',
      '/ip/firewall/raw',
      '/ip/firewall/service-port',
      '/ip/firewall/connection',
      '/ip/firewall/address-list',
      '/ip/firewall/layer7-protocol',
    ],
  },
  {
    title: 'IP Settings',
    tree: ['IP', 'Settings'],
    tabs: ['/ip/settings', '/ip/settings/fast-path', '/ip/settings/slow-path'],
  },
  {
    title: 'Queue List',
    tree: ['Queues'],
    tabs: ['/queue/simple', '/queue/interface', '/queue/tree', '/queue/type'],
  },
];

/** Windows that stand behind a button of another window instead of in the tree. */
const RELATED_WINDOWS: Readonly<Record<string, readonly RelatedWindow[]>> = {
  '/interface/list/member': [{ label: 'Lists', address: '/interface/list' }],
  '/ip/firewall/connection': [{ label: 'Tracking', address: '/ip/firewall/connection/tracking' }],
  '/queue/simple': [
    { label: 'Hints', address: '/queue/lint' },
    { label: 'Import', address: QUEUE_IMPORT },
  ],
  '/queue/tree': [{ label: 'Hints', address: '/queue/lint' }],
  '/system/resource': [{ label: 'CPU', address: '/system/resource/cpu' }],
};

/** The first level of the tree, in the order that RouterOS users know; what is not here comes last. */
const TOP = ['Dashboard', 'Interfaces', 'IP', 'Routing', 'System', 'Queues', 'Files', 'Log', 'Tools'];

function pageOf(menu: Menu): Page {
  const relatedWindows = (RELATED_WINDOWS[menu.path] ?? []).filter(
    ({ address }) => address === QUEUE_IMPORT || menuByPath(address) !== undefined,
  );
  return { address: menu.path, label: menu.tree.at(-1) ?? menu.title, relatedWindows };
}

function groupOfPages(title: string, tree: readonly string[] | undefined, pages: readonly Page[]): readonly Group[] {
  const [first, ...rest] = pages;
  return first === undefined ? [] : [{ key: first.address, title, tree, pages: [first, ...rest] }];
}

function inTreeOrder(a: Group, b: Group): number {
  const rank = (group: Group) => {
    const at = TOP.indexOf(group.tree?.[0] ?? '');
    return at < 0 ? TOP.length : at;
  };
  const text = (group: Group) => (group.tree ?? []).join('\u0000');
  return rank(a) - rank(b) || (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
}

function buildGroups(): readonly Group[] {
  const shared = SHARED.flatMap(({ title, tree, tabs }) => {
    const menus = tabs.map((path) => menuByPath(path)).filter((menu) => menu !== undefined);
    return groupOfPages(title, tree, menus.map(pageOf));
  });
  const taken = new Set(shared.flatMap((group) => group.pages.map((page) => page.address)));
  const opened = new Set(
    Object.values(RELATED_WINDOWS)
      .flat()
      .map((related) => related.address),
  );
  const single = registry
    .filter((menu) => !taken.has(menu.path))
    .flatMap((menu) => groupOfPages(menu.title, opened.has(menu.path) ? undefined : menu.tree, [pageOf(menu)]));
  const dashboard = groupOfPages(
    'Dashboard',
    ['Dashboard'],
    [{ address: DASHBOARD, label: 'Dashboard', relatedWindows: [] }],
  );
  const history = groupOfPages(
    'History',
    ['System', 'History'],
    [{ address: HISTORY, label: 'History', relatedWindows: [] }],
  );
  const queueImport = groupOfPages('Import Subscribers', undefined, [
    { address: QUEUE_IMPORT, label: 'Import Subscribers', relatedWindows: [] },
  ]);
  return [...dashboard, ...shared, ...single, ...history, ...queueImport].sort(inTreeOrder);
}

/** All windows, in the order of the menu tree. */
export const groups: readonly Group[] = buildGroups();

const byAddress: ReadonlyMap<string, Group> = new Map(
  groups.flatMap((group) => group.pages.map((page) => [page.address, group] as const)),
);

/** The window that shows the menu of this path, or the dashboard. */
export function groupOf(address: string): Group | undefined {
  return byAddress.get(address);
}
