/** The subscription of a table: open while the table is visible, with the user's last sort order and filter. */
import type { Menu } from '@tollway/schema';
import { isTree } from '@tollway/schema';
import { useEffect, useMemo, useState } from 'react';
import { live as socket } from '../api/live.ts';
import { LiveMenu, type Query, type TreeShape } from '../api/live-menu.ts';
import { useVisible } from '../ui/visibility.ts';
import { type Chooser, choiceConditions, chooserOf } from './chooser.ts';
import { filterOf } from './conditions.ts';
import { nothingRemembered, remember, remembered, type TableMemory } from './table-memory.ts';
import { usualTree } from './tree.ts';

/** Rows asked for before the size of the screen is known. */
const FIRST_ROWS = 60;

function queryOf(
  menu: Menu,
  chooser: Chooser | undefined,
  { conditions, choice, sort, tree = usualTree(menu) }: TableMemory,
): Pick<Query, 'filter' | 'sort' | 'tree'> {
  const filter = filterOf(menu, [...conditions, ...choiceConditions(chooser, choice)]);
  return { sort, filter, ...(isTree(menu) && { tree }) };
}

interface MenuWindow {
  readonly live: LiveMenu;
  readonly chooser: Chooser | undefined;
  /** Query that the user wants to see. */
  readonly wants: TableMemory;
  change(part: Partial<TableMemory>): void;
  /** The tree, where the menu is shown as one. */
  readonly tree: TreeShape | undefined;
  /** Folds or unfolds; the list stays where it is. */
  fold(tree: TreeShape): void;
}

export function useMenuWindow(menu: Menu): MenuWindow {
  const chooser = useMemo(() => chooserOf(menu), [menu]);
  const [kept, setKept] = useState({ menu, wants: remembered(menu.path) });
  const wants = kept.menu === menu ? kept.wants : remembered(menu.path);
  const live = useMemo(() => {
    const query = { first: 0, count: FIRST_ROWS, find: '', ...queryOf(menu, chooser, remembered(menu.path)) };
    return new LiveMenu(socket, menu.path, query, menu.refreshMs ?? 1000);
  }, [menu, chooser]);
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return;
    live.open();
    return () => live.close();
  }, [live, visible]);
  const keep = (part: Partial<TableMemory>) => {
    const next = { ...nothingRemembered, ...wants, ...part };
    setKept({ menu, wants: next });
    remember(menu.path, next);
    return next;
  };
  return {
    live,
    chooser,
    wants,
    change(part) {
      live.show({ first: 0, ...queryOf(menu, chooser, keep(part)) });
    },
    tree: (isTree(menu) && (wants.tree === undefined ? usualTree(menu) : wants.tree)) || undefined,
    fold(tree) {
      keep({ tree });
      live.show({ tree });
    },
  };
}
