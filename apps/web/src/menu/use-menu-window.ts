/** The live window behind a table: open while somebody can see it, sorted and filtered as the user last wanted. */
import type { Menu } from '@tollway/schema';
import { useEffect, useMemo, useState } from 'react';
import { live as socket } from '../api/live.ts';
import { LiveMenu, type Query } from '../api/live-menu.ts';
import { useVisible } from '../ui/visibility.ts';
import { type Chooser, choiceConditions, chooserOf } from './chooser.ts';
import { filterOf } from './conditions.ts';
import { nothingRemembered, remember, remembered, type TableMemory } from './table-memory.ts';

/** Rows asked for before the size of the screen is known. */
const FIRST_ROWS = 60;

function queryOf(
  chooser: Chooser | undefined,
  { conditions, choice, sort }: TableMemory,
): Pick<Query, 'filter' | 'sort'> {
  return { sort, filter: filterOf([...conditions, ...choiceConditions(chooser, choice)]) };
}

export interface MenuWindow {
  readonly live: LiveMenu;
  readonly chooser: Chooser | undefined;
  /** What the user wants to see. */
  readonly wants: TableMemory;
  change(part: Partial<TableMemory>): void;
}

export function useMenuWindow(menu: Menu): MenuWindow {
  const chooser = useMemo(() => chooserOf(menu), [menu]);
  const [kept, setKept] = useState({ menu, wants: remembered(menu.path) });
  const wants = kept.menu === menu ? kept.wants : remembered(menu.path);
  const live = useMemo(() => {
    const query = { first: 0, count: FIRST_ROWS, find: '', ...queryOf(chooser, remembered(menu.path)) };
    return new LiveMenu(socket, menu.path, query, menu.refreshMs ?? 1000);
  }, [menu, chooser]);
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return;
    live.open();
    return () => live.close();
  }, [live, visible]);
  return {
    live,
    chooser,
    wants,
    change(part) {
      const next = { ...nothingRemembered, ...wants, ...part };
      setKept({ menu, wants: next });
      remember(menu.path, next);
      live.show({ first: 0, ...queryOf(chooser, next) });
    },
  };
}
