/** Content of a window by its address: the dashboard, a list, a form, or the dialog of an item. */
import type { MenuOutline } from '@tollway/schema';
import { type ReactNode, useContext, useId, useState } from 'react';
import { newTitle } from '../menu/new-title.ts';
import type { NewItem } from '../menu/use-table-actions.ts';
import { Lazy, OnLoaded } from '../ui/lazy-component.tsx';
import { Visibility } from '../ui/visibility.ts';
import { menuWindowComponents, standaloneWindowComponents, tabExtras } from '../windows/bespoke.ts';
import type { WindowDefinition } from '../windows/define-windows.ts';
import { menuOutlineAt } from '../windows/menu-outlines.ts';
import { definitionOf } from '../windows/window-definitions.ts';
import { act } from '../wm/desktop-state.ts';
import { WindowId } from '../wm/window-id.ts';
import { useAppearance } from './appearance.ts';
import { CloseRequest } from './close-request.ts';
import { isTabAddress } from './content.ts';
import { focusLoadedContent } from './focus-loaded.ts';
import { ItemForm, MenuTable, NewItemForm, SettingsForm, TabList } from './generated-windows.ts';
import { ItemFrame } from './ItemFrame.tsx';
import { type Item as AddressItem, formatAddress, parseAddress } from './location.ts';
import { closeWindow, openAddress } from './navigation.ts';
import { mayAddTo, mayOpen, useUserGroup } from './permitted.ts';

/** Renders the window `id`. */
export function renderWindow(id: string, address: string): ReactNode {
  const { path, item } = parseAddress(address, isTabAddress);
  const definition = path === undefined ? undefined : definitionOf(path);
  if (path === undefined || definition === undefined) return null;
  if (item.kind === 'none') {
    return (
      <OnLoaded value={focusLoadedContent}>
        <WindowTabs id={id} path={path} definition={definition} />
      </OnLoaded>
    );
  }
  const menu = menuOutlineAt(path);
  return menu === undefined ? null : (
    <OnLoaded value={focusLoadedContent}>
      <Item id={id} menu={menu} item={item} />
    </OnLoaded>
  );
}

interface ItemProps {
  readonly id: string;
  readonly menu: MenuOutline;
  readonly item: Exclude<AddressItem, { readonly kind: 'none' }>;
}

function Item({ id, menu, item: now }: ItemProps) {
  const { path } = menu;
  const requestClose = useContext(CloseRequest);
  const of = { path, userGroup: useUserGroup() };
  const common = {
    Frame: ItemFrame,
    extras: tabExtras.get(path),
    onClose: () => closeWindow(id),
    onCloseRequest: () => requestClose(id),
    onCopy: (copy: string, values: Readonly<Record<string, string>>) =>
      openAddress(formatAddress(path, { kind: 'new', copy, values })),
    onAdded: (added: string) => {
      const to = formatAddress(path, { kind: 'id', id: added });
      act({ do: 'show', id, address: to, key: to });
    },
  };
  const mayAdd = mayAddTo(menu, of.userGroup);
  // A user who loses the permission keeps the input.
  const [begun] = useState(mayAdd);
  // The dialog of a new item becomes the dialog of the added item, and its address changes accordingly.
  const [item] = useState(now);
  if (item.kind === 'id') return <Lazy component={ItemForm} props={{ ...of, props: { id: item.id, ...common } }} />;
  return !mayAdd && !begun ? (
    <ItemFrame title={newTitle(menu)}>
      <p className="form-note">Your group may not add items here.</p>
    </ItemFrame>
  ) : (
    <Lazy
      component={NewItemForm}
      props={{
        ...of,
        props: { copy: item.copy, before: item.before, after: item.after, values: item.values, ...common },
      }}
    />
  );
}

interface WindowTabsProps {
  readonly id: string;
  readonly path: string;
  readonly definition: WindowDefinition;
}

/**
 * The tabs of a window, with the buttons of the open tab, above its content. Tabs that were opened before keep their
 * selection, filter and scroll position, but receive no updates.
 */
function WindowTabs({ id, path, definition }: WindowTabsProps) {
  const tabsId = useId();
  const openTab = definition.tabs.find((each) => each.address === path) ?? definition.tabs[0];
  const userGroup = useUserGroup();
  const relatedWindows = openTab.relatedWindows.filter(({ address }) => mayOpen(address, userGroup));
  const tabbed = definition.tabs.length > 1;
  const visible = useContext(Visibility);
  const [visited, setVisited] = useState<readonly string[]>([path]);
  if (!visited.includes(path)) setVisited([...visited, path]);
  return (
    <>
      {(tabbed || relatedWindows.length > 0) && (
        <div className="window-tabs">
          {tabbed && (
            <Lazy
              component={TabList}
              props={{
                id: tabsId,
                label: definition.title,
                tabs: definition.tabs.map((each) => each.label),
                active: openTab.label,
                onSelect: (label: string) => {
                  const to = definition.tabs.find((each) => each.label === label);
                  if (to !== undefined) act({ do: 'show', id, address: to.address, key: definition.key });
                },
              }}
            />
          )}
          {relatedWindows.length > 0 && (
            <div className="window-related">
              {relatedWindows.map((related) => (
                <button
                  key={related.address}
                  type="button"
                  className="button"
                  onClick={() => openAddress(related.address)}
                >
                  {related.label}
                </button>
              ))}
            </div>
          )}
        </div>
      )}
      {definition.tabs
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
              <TabContent path={address} />
            </Visibility>
          </div>
        ))}
    </>
  );
}

function TabContent({ path }: { readonly path: string }) {
  const userGroup = useUserGroup();
  const standaloneWindow = standaloneWindowComponents.get(path);
  if (standaloneWindow !== undefined) {
    return <Lazy component={standaloneWindow} props={{ userGroup, allowed: mayOpen(path, userGroup) }} />;
  }
  const menu = menuOutlineAt(path);
  return menu === undefined ? null : <MenuContent menu={menu} />;
}

function MenuContent({ menu: { path, kind } }: { readonly menu: MenuOutline }) {
  const of = { path, userGroup: useUserGroup() };
  const density = useAppearance((appearance) => appearance.density);
  const id = useContext(WindowId);
  const menuWindow = menuWindowComponents.get(path);
  const list = {
    density,
    onOpen: (id: string) => openAddress(formatAddress(path, { kind: 'id', id })),
    onAdd: (start: NewItem = {}) =>
      openAddress(formatAddress(path, { kind: 'new', copy: start.copy, before: start.before, after: start.after })),
  };
  const requestClose = useContext(CloseRequest);
  const closing = { onClose: () => closeWindow(id), onCloseRequest: () => requestClose(id) };
  if (menuWindow !== undefined)
    return <Lazy component={menuWindow} props={{ ...of, props: { ...list, ...closing } }} />;
  if (kind === 'settings' || kind === 'status') {
    return <Lazy component={SettingsForm} props={{ ...of, props: closing }} />;
  }
  return <Lazy component={MenuTable} props={{ ...of, props: list }} />;
}
