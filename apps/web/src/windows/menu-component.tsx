/** Components of the windows of menus. Their code and the declarations of menus are fetched together. */
import type { Menu } from '@tollway/schema';
import type { ComponentType, ReactNode } from 'react';
import { LazyComponent } from '../ui/lazy-component.tsx';

/** A component takes the menu as it is permitted to a group of users. */
interface TakesMenu {
  readonly menu: Menu;
}

/** Properties of a component of which {@link menuComponent} finds the menu. */
export type WithoutMenu<C extends (props: never) => ReactNode> = Omit<Parameters<C>[0], 'menu'>;

/** Properties of a {@link menuComponent}. */
interface MenuComponentProps<P extends object> {
  /** Path of the menu. */
  readonly path: string;
  /** Group of the user: `full`, `write` or `read`. */
  readonly userGroup: string;
  /** The other properties of the component. */
  readonly props: P;
}

/** @param load imports a component that takes the menu, and `P` beside it */
export function menuComponent<P extends object>(
  load: () => Promise<ComponentType<P & TakesMenu>>,
): LazyComponent<MenuComponentProps<P>> {
  return new LazyComponent<MenuComponentProps<P>>(async () => {
    const [Component, { permittedMenu }] = await Promise.all([load(), import('./permitted-menu.ts')]);
    // biome-ignore lint/correctness/noComponentHookFactories: defined once, when the code has come
    return function OfMenu({ path, userGroup, props }: MenuComponentProps<P>) {
      const menu = permittedMenu(path, userGroup);
      return menu === undefined ? null : <Component {...props} menu={menu} />;
    };
  });
}
