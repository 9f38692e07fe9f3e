/** The subscription of a table: active while the table is visible, with the user's last sort order and filter. */
import type { Menu } from '@tollway/schema';
import { isTree } from '@tollway/schema';
import { useEffect, useMemo, useState } from 'react';
import { live as socket } from '../api/live.ts';
import { LiveMenu, type Query, type TreeShape } from '../api/live-menu.ts';
import { useVisible } from '../ui/visibility.ts';
import { filterOf } from './conditions.ts';
import { choiceConditions, type QuickFilter, quickFilterOf } from './quick-filter.ts';
import { nothingRemembered, type RememberedQuery, rememberedQuery, rememberQuery } from './remembered-query.ts';
import { usualTree } from './tree.ts';

/** Number of rows requested before the size of the screen is known. */
const FIRST_ROWS = 60;

function queryOf(
  menu: Menu,
  quickFilter: QuickFilter | undefined,
  { conditions, choice, sort, tree = usualTree(menu) }: RememberedQuery,
): Pick<Query, 'filter' | 'sort' | 'tree'> {
  const filter = filterOf(menu, [...conditions, ...choiceConditions(quickFilter, choice)]);
  return { sort, filter, ...(isTree(menu) && { tree }) };
}

interface TableSubscription {
  readonly live: LiveMenu;
  readonly quickFilter: QuickFilter | undefined;
  /** The query that the user has chosen. */
  readonly wants: RememberedQuery;
  change(part: Partial<RememberedQuery>): void;
  /** The tree, if the menu is shown as one. */
  readonly tree: TreeShape | undefined;
  /** Changes the folded branches; the scroll position stays. */
  fold(tree: TreeShape): void;
}

export function useTableSubscription(menu: Menu): TableSubscription {
  const quickFilter = useMemo(() => quickFilterOf(menu), [menu]);
  const [kept, setKept] = useState({ menu, wants: rememberedQuery(menu.path) });
  const wants = kept.menu === menu ? kept.wants : rememberedQuery(menu.path);
  const live = useMemo(() => {
    const query = { first: 0, count: FIRST_ROWS, find: '', ...queryOf(menu, quickFilter, rememberedQuery(menu.path)) };
    return new LiveMenu(socket, menu.path, query, menu.refreshMs ?? 1000);
  }, [menu, quickFilter]);
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return;
    live.open();
    return () => live.close();
  }, [live, visible]);
  const keep = (part: Partial<RememberedQuery>) => {
    const next = { ...nothingRemembered, ...wants, ...part };
    setKept({ menu, wants: next });
    rememberQuery(menu.path, next);
    return next;
  };
  return {
    live,
    quickFilter,
    wants,
    change(part) {
      live.changeQuery({ first: 0, ...queryOf(menu, quickFilter, keep(part)) });
    },
    tree: (isTree(menu) && (wants.tree === undefined ? usualTree(menu) : wants.tree)) || undefined,
    fold(tree) {
      keep({ tree });
      live.changeQuery({ tree });
    },
  };
}
