/** What is in a window, by its address: the dashboard, a list, a form, or the dialog of an item. */
import { type Menu, menuByPath } from '@tollway/schema';
import { type ReactNode, useContext, useId, useState } from 'react';
import { ItemForm, NewItemForm } from '../menu/ItemForm.tsx';
import { newTitle } from '../menu/item.ts';
import { MenuTable } from '../menu/MenuTable.tsx';
import { SettingsForm } from '../menu/SettingsForm.tsx';
import type { NewItem } from '../menu/use-table-actions.ts';
import { TabList } from '../ui/Tabs.tsx';
import { Visibility } from '../ui/visibility.ts';
import { bespokeWindows, tabExtras } from '../windows/bespoke.ts';
import { Dashboard } from '../windows/dashboard/Dashboard.tsx';
import { DASHBOARD, type Group, groupOf, HISTORY, QUEUE_IMPORT } from '../windows/groups.ts';
import { ImportWindow } from '../windows/queue/import/ImportWindow.tsx';
import { HistoryWindow } from '../windows/system/history/HistoryWindow.tsx';
import { act } from '../wm/desk-state.ts';
import { WindowId } from '../wm/window-id.ts';
import { useAppearance } from './appearance.ts';
import { isPage } from './content.ts';
import { ItemFrame } from './ItemFrame.tsx';
import { Leave } from './leave.ts';
import { formatPlace, type Item as PlaceItem, parsePlace } from './location.ts';
import { leaveWindow, openAddress } from './open.ts';
import { mayOpen, permitted, useGroup } from './permitted.ts';

/** Draws the window `id`. */
export function renderWindow(id: string, address: string): ReactNode {
  const { menu: path, item } = parsePlace(address, isPage);
  const group = path === undefined ? undefined : groupOf(path);
  if (path === undefined || group === undefined) return null;
  if (item.kind === 'none') return <Pages id={id} path={path} group={group} />;
  const menu = menuByPath(path);
  return menu === undefined ? null : <Item id={id} menu={menu} item={item} />;
}

interface ItemProps {
  readonly id: string;
  readonly menu: Menu;
  readonly item: Exclude<PlaceItem, { readonly kind: 'none' }>;
}

function Item({ id, menu, item: now }: ItemProps) {
  const { path } = menu;
  const leave = useContext(Leave);
  const common = {
    menu: permitted(menu, useGroup()),
    Frame: ItemFrame,
    extras: tabExtras[path],
    onClose: () => leaveWindow(id),
    onLeave: () => leave(id),
    onCopy: (copy: string, values: Readonly<Record<string, string>>) =>
      openAddress(formatPlace(path, { kind: 'new', copy, values })),
    onAdded: (added: string) => {
      const to = formatPlace(path, { kind: 'id', id: added });
      act({ do: 'show', id, address: to, key: to });
    },
  };
  const mayAdd = common.menu.commands.includes('add');
  // Who may not any more keeps what was typed.
  const [begun] = useState(mayAdd);
  // The dialog of a new item becomes that of the one that was added, and so does the address.
  const [item] = useState(now);
  if (item.kind === 'id') return <ItemForm id={item.id} {...common} />;
  return !mayAdd && !begun ? (
    <ItemFrame title={newTitle(menu)}>
      <p className="form-note">Your group may not add items here.</p>
    </ItemFrame>
  ) : (
    <NewItemForm copy={item.copy} before={item.before} after={item.after} values={item.values} {...common} />
  );
}

interface PagesProps {
  readonly id: string;
  readonly path: string;
  readonly group: Group;
}

/**
 * The tabs of a window, with the buttons of the one that is open, over its content. Tabs that were open keep their
 * selection, their filter and their place in the list, but hear no news.
 */
function Pages({ id, path, group }: PagesProps) {
  const tabsId = useId();
  const page = group.pages.find((each) => each.address === path) ?? group.pages[0];
  const user = useGroup();
  const openers = page.openers.filter(({ address }) => mayOpen(address, user));
  const tabbed = group.pages.length > 1;
  const visible = useContext(Visibility);
  const [visited, setVisited] = useState<readonly string[]>([path]);
  if (!visited.includes(path)) setVisited([...visited, path]);
  return (
    <>
      {(tabbed || openers.length > 0) && (
        <div className="window-tabs">
          {tabbed && (
            <TabList
              id={tabsId}
              label={group.title}
              tabs={group.pages.map((each) => each.label)}
              active={page.label}
              onSelect={(label) => {
                const to = group.pages.find((each) => each.label === label);
                if (to !== undefined) act({ do: 'show', id, address: to.address, key: group.key });
              }}
            />
          )}
          {openers.length > 0 && (
            <div className="window-openers">
              {openers.map((opener) => (
                <button
                  key={opener.address}
                  type="button"
                  className="button"
                  onClick={() => openAddress(opener.address)}
                >
                  {opener.label}
                </button>
              ))}
            </div>
          )}
        </div>
      )}
      {group.pages
        .filter(({ address }) => visited.includes(address))
        .map(({ address, label }) => (
          <div
            key={address}
            className="window-panel"
            hidden={address !== path}
            {...(tabbed ? { role: 'tabpanel', 'aria-label': label } : {})}
            {...(tabbed && address === path ? { id: `${tabsId}-panel` } : {})}
          >
            <Visibility value={visible && address === path}>
              <Page path={address} />
            </Visibility>
          </div>
        ))}
    </>
  );
}

function Page({ path }: { readonly path: string }) {
  if (path === DASHBOARD) return <Dashboard />;
  if (path === QUEUE_IMPORT) return <ImportPage />;
  if (path === HISTORY) return <HistoryPage />;
  const menu = menuByPath(path);
  return menu === undefined ? null : <MenuPage menu={menu} />;
}

function ImportPage() {
  const allowed = mayOpen(QUEUE_IMPORT, useGroup());
  // Who may not any more keeps what was typed.
  const [begun] = useState(allowed);
  return allowed || begun ? (
    <ImportWindow allowed={allowed} />
  ) : (
    <p className="form-note">Your group may not add queues.</p>
  );
}

function HistoryPage() {
  return <HistoryWindow group={useGroup()} />;
}

function MenuPage({ menu: whole }: { readonly menu: Menu }) {
  const menu = permitted(whole, useGroup());
  const density = useAppearance((appearance) => appearance.density);
  const id = useContext(WindowId);
  const Bespoke = bespokeWindows[menu.path];
  const list = {
    menu,
    density,
    onOpen: (id: string) => openAddress(formatPlace(menu.path, { kind: 'id', id })),
    onAdd: (start: NewItem = {}) =>
      openAddress(formatPlace(menu.path, { kind: 'new', copy: start.copy, before: start.before, after: start.after })),
  };
  const leave = useContext(Leave);
  const closing = { onClose: () => leaveWindow(id), onLeave: () => leave(id) };
  if (Bespoke !== undefined) return <Bespoke {...list} {...closing} />;
  if (menu.kind === 'settings' || menu.kind === 'status') return <SettingsForm menu={menu} {...closing} />;
  return <MenuTable {...list} />;
}
