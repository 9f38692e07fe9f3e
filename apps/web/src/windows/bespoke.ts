/**
 * Windows that are more than a generated table or form, and additions to tabs of generated dialogs. Each is found by
 * its folder, whose path below this one is the address of the window: `queue/simple` for `/queue/simple`:
 *
 * - `window.tsx`: the window of a menu, a component that takes {@link MenuWindowProps};
 * - `standalone-window.tsx`: a window that belongs to no menu, a component that takes {@link StandaloneWindowProps};
 * - `tabs.ts`: content that tabs of the menu's dialogs show above their fields, {@link TabExtras}.
 *
 * All of them have a default export. The code of windows is fetched when one is opened. The code of tabs is loaded with
 * the page, so that it should only name a {@link LazyComponent}.
 */
import type { ComponentType } from 'react';
import type { TabExtras } from '../menu/form-tabs.ts';
import { LazyComponent } from '../ui/lazy-component.tsx';
import { menuComponent } from './menu-component.tsx';
import type { MenuWindowProps, StandaloneWindowProps } from './window-props.ts';
import './windows.css';

interface ComponentFile<P> {
  readonly default: ComponentType<P>;
}

/** Values by address, which is the path of the file's folder. */
function byAddress<From, To>(files: Readonly<Record<string, From>>, of: (file: From) => To): ReadonlyMap<string, To> {
  return new Map(
    Object.entries(files).map(([path, file]) => [path.slice('.'.length, path.lastIndexOf('/')), of(file)] as const),
  );
}

/** Windows of menus, by the path of the menu. */
export const menuWindowComponents = byAddress(
  import.meta.glob<ComponentFile<MenuWindowProps>>('./**/window.tsx'),
  (file) => menuComponent<Omit<MenuWindowProps, 'menu'>>(async () => (await file()).default),
);

/** Windows that belong to no menu, by their address. */
export const standaloneWindowComponents = byAddress(
  import.meta.glob<ComponentFile<StandaloneWindowProps>>('./**/standalone-window.tsx'),
  (file) => new LazyComponent(async () => (await file()).default),
);

/** Content that tabs of dialogs show above their fields, by the path of the menu. */
export const tabExtras = byAddress(
  import.meta.glob<TabExtras>('./**/tabs.ts', { eager: true, import: 'default' }),
  (extras) => extras,
);
