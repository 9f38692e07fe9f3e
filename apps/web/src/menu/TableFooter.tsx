import { type ReactNode, useSyncExternalStore } from 'react';
import { useStale } from '../api/connection.ts';
import type { LiveMenu } from '../api/live-menu.ts';
import { loadingText } from '../ui/loading-text.ts';
import { amount, items } from './item.ts';

/** Text for items that only the packet engine knows, while it does not answer. */
export const NOT_KNOWN = 'Not known now: the packet engine does not answer';

/** `16 items out of 17 (1 selected)`. @param incomplete whether there are more items, which are unknown now */
export function footerText(matched: number, total: number, selected: number, incomplete = false): string {
  if (incomplete && total === 0) return NOT_KNOWN;
  const count = matched === total ? items(matched) : `${items(matched)} out of ${amount(total)}`;
  const known = incomplete ? `${count} without those that the packet engine knows, which does not answer` : count;
  return selected === 0 ? known : `${known} (${amount(selected)} selected)`;
}

interface Props {
  readonly live: LiveMenu;
  readonly selected: number;
  readonly more?: ReactNode;
}

export function TableFooter({ live, selected, more }: Props) {
  const text = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => {
      const { loaded, matched, context, total, incomplete } = live.state;
      if (live.error !== undefined) return `Not shown: ${live.error}`;
      return loaded ? footerText(matched - context, total, selected, incomplete) : undefined;
    },
  );
  const stale = useStale();
  return (
    <footer className="table-foot">
      <span>{text ?? loadingText(stale)}</span>
      {more}
    </footer>
  );
}
