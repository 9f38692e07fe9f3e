/** The item of a dialog or a settings form, updated by the live feed. */
import type { Menu } from '@tollway/schema';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { live as socket } from '../api/live.ts';
import { LiveMenu } from '../api/live-menu.ts';
import type { Row } from '../api/row.ts';
import { useVisible } from '../ui/visibility.ts';
import { NOT_KNOWN } from './TableFooter.tsx';

type LiveItem =
  | { readonly state: 'loading' }
  /** It is unknown whether the item exists. */
  | { readonly state: 'unknown'; readonly why: string }
  /** `removed`: the item no longer exists, or never did; otherwise it cannot be read. */
  | { readonly state: 'missing'; readonly why: string; readonly removed: boolean }
  | { readonly state: 'here'; readonly row: Row };

const LOADING: LiveItem = { state: 'loading' };
const UNKNOWN: LiveItem = { state: 'unknown', why: `${NOT_KNOWN}.` };

/** One item by id, or the only one of a settings menu; null: the item does not exist yet, and nothing is subscribed. */
export function useItem(menu: Menu, id: string | undefined | null): LiveItem {
  const live = useMemo(() => {
    const filter: Record<string, string> = id === undefined || id === null ? {} : { '.id': id };
    return new LiveMenu(
      socket,
      menu.path,
      { first: 0, count: 1, sort: null, filter, find: '' },
      menu.refreshMs ?? 1000,
    );
  }, [menu, id]);
  const visible = useVisible();
  useEffect(() => {
    if (!visible || id === null) return;
    live.open();
    return () => live.close();
  }, [live, id, visible]);

  const first = live.state.order[0];
  const row = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => (live.state.order[0] === undefined ? undefined : live.state.rows.get(live.state.order[0])),
  );
  const phase = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => live.error ?? (!live.state.loaded ? 'loading' : live.state.incomplete ? 'incomplete' : 'loaded'),
  );
  return useMemo(() => {
    if (row !== undefined && first !== undefined) return { state: 'here', row };
    if (phase === 'loading') return LOADING;
    if (phase === 'incomplete') return UNKNOWN;
    const removed = phase === 'loaded';
    return { state: 'missing', why: removed ? 'This item does not exist any more.' : phase, removed };
  }, [row, first, phase]);
}
