/** The selection of a table, without rows that were removed or filtered out, as commands must not apply to those. */
import type { Menu } from '@tollway/schema';
import {
  type Dispatch,
  type RefObject,
  type SetStateAction,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { flushSync } from 'react-dom';
import { live as socket } from '../api/live.ts';
import { idsOf, type LiveMenu, type Query } from '../api/live-menu.ts';
import type { Row } from '../api/row.ts';
import { showError } from '../ui/toasts.ts';
import { flagLetters } from './cells/text.ts';
import { excludeGone, inOrder, noSelection, retain, type Selection } from './selection.ts';

/** Maximum number of selected rows whose states are examined here; the states of more are left to the server. */
const MAX_STATES = 500;
/**
 * Delay after a change of the rows until the router is asked which selected rows outside of the loaded ones exist, ms.
 */
const ASK_MS = 2_000;
/** Additional delay per row of the list, ms: long lists are requested less often. */
const ASK_ROW_MS = 0.5;

export interface TableSelection {
  readonly selection: Selection;
  readonly select: Dispatch<SetStateAction<Selection>>;
  /**
   * Pending request for the ids of rows to select. Commands on the selection wait for it, and are not run if it
   * resolves to false, as the router did not answer.
   */
  readonly pending: RefObject<Promise<boolean> | undefined>;
  /** Selected ids in the order of the list. */
  chosen(): readonly string[];
  /** Selected rows that are loaded, with their present values. */
  chosenRows(): readonly Row[];
}

/** Whether all rows that pass the query are loaded; otherwise it is unknown which of the others still exist. */
function isComplete({ state }: LiveMenu): boolean {
  return state.loaded && state.first === 0 && state.order.length === state.matched;
}

/** Ids of all items that pass Find and the filter, including those in folded branches. */
export const matchingIds = (menu: Menu, query: Query): Promise<readonly string[]> =>
  idsOf(socket, menu.path, { ...query, sort: null, tree: null });

/**
 * Makes commands on the selection wait for ids from the router. A failure is reported.
 * @param what description of the action, for people
 */
export function awaitListing(
  pending: TableSelection['pending'],
  what: string,
  listing: Promise<readonly string[]>,
  take: (ids: readonly string[]) => void,
): void {
  const listed = listing
    .then((ids) => {
      flushSync(() => take(ids));
      return true;
    })
    .catch((error: unknown) => {
      showError(what, error);
      return false;
    })
    .finally(() => {
      if (pending.current === listed) pending.current = undefined;
    });
  pending.current = listed;
}

const haveSameMatches = (one: Query, other: Query): boolean => one.find === other.find && one.filter === other.filter;

export function useSelection(menu: Menu, live: LiveMenu): TableSelection {
  const [selection, select] = useState<Selection>(noSelection);
  const pending = useRef<Promise<boolean>>(undefined);
  const latest = useRef(selection);
  latest.current = selection;
  useEffect(() => {
    let known = live.loadedQuery;
    let { total } = live.state;
    let asking: ReturnType<typeof setTimeout> | undefined;
    /** Deselects rows that no longer exist and are not loaded. */
    const forgetGone = async () => {
      const loaded = new Set(live.shown);
      const far = [...latest.current.ids].filter((id) => !loaded.has(id));
      if (far.length === 0) return;
      const there = new Set(await matchingIds(menu, live.loadedQuery));
      const gone = new Set(far.filter((id) => !there.has(id)));
      if (gone.size > 0) select((now) => excludeGone(now, gone));
    };
    /** Requests the ids that pass the query now, as not all rows are loaded. */
    const dropUnmatched = () => {
      const query = live.loadedQuery;
      const listing = Promise.resolve(pending.current).then(() => matchingIds(menu, query));
      awaitListing(pending, 'Select', listing, (ids) => select((now) => retain(now, [...ids, ...live.shown])));
    };
    const askSoon = () => {
      if (asking !== undefined || isComplete(live) || latest.current.ids.size === 0) return;
      const wait = Math.max(ASK_MS, live.state.total * ASK_ROW_MS);
      asking = setTimeout(() => {
        asking = undefined;
        // If there is no response, the next command detects missing rows.
        if (pending.current === undefined) forgetGone().catch(() => undefined);
      }, wait);
    };
    const unsubscribe = live.subscribe((change) => {
      const before = total;
      total = live.state.total;
      if (change.order || total !== before) askSoon();
      if (!change.order) return;
      const { loadedQuery, shown } = live;
      const asBefore = haveSameMatches(known, loadedQuery);
      known = loadedQuery;
      if (isComplete(live)) select((now) => retain(now, shown));
      else if (!asBefore) {
        const loaded = new Set(shown);
        const waits = pending.current !== undefined;
        if (waits || [...latest.current.ids].some((id) => !loaded.has(id))) dropUnmatched();
      }
    });
    return () => {
      unsubscribe();
      clearTimeout(asking);
    };
  }, [menu, live]);
  const ids = () => inOrder(selection, live.shown);
  const rowsOf = (list: readonly string[]) => list.map((id) => live.row(id)).filter((row) => row !== undefined);
  // Renders when a selected row becomes disabled, dynamic …, but not when its counters change.
  useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => {
      let states = '';
      for (const id of selection.ids) {
        if (states.length > MAX_STATES) break;
        const row = live.row(id);
        states += row === undefined ? '?' : `${flagLetters(menu, row)}${row.builtin ?? ''};`;
      }
      return states;
    },
  );
  return { selection, select, pending, chosen: ids, chosenRows: () => rowsOf(ids()) };
}
