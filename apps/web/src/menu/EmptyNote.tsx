/** Note in a table without rows: why it is empty and what to do. */
import type { Menu } from '@tollway/schema';
import { useSyncExternalStore } from 'react';
import { useStale } from '../api/connection.ts';
import type { LiveMenu } from '../api/live-menu.ts';
import { loadingText } from '../ui/loading-text.ts';
import { NOT_KNOWN } from './TableFooter.tsx';

export function EmptyNote({ menu, live }: { readonly menu: Menu; readonly live: LiveMenu }) {
  const stale = useStale();
  const note = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => {
      const { state, query, error } = live;
      if (error === undefined && !state.loaded) return undefined;
      if (error !== undefined) {
        return live.refused === undefined ? '' : 'Nothing is listed: the router does not understand the filter.';
      }
      if (live.shown.length > 0 || state.matched > 0) return '';
      if (state.incomplete) return `${NOT_KNOWN}.`;
      if (query.find !== '' || Object.keys(query.filter).length > 0)
        return 'Nothing matches Find, the list beside it, or the filter.';
      return menu.commands.has('add') ? 'Nothing here yet. Press + (Insert) to add an item.' : 'Nothing here now.';
    },
  );
  const text = note ?? (stale ? loadingText(true) : '');
  return text === '' ? null : (
    <p className="empty-note" role="status">
      {text}
    </p>
  );
}
