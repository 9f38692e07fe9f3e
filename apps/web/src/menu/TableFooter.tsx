import { type ReactNode, useSyncExternalStore } from 'react';
import { useStale } from '../api/connection.ts';
import type { LiveMenu } from '../api/live-menu.ts';
import { amount, items } from './item.ts';

/** `16 items out of 17 (1 selected)`. */
export function footerText(matched: number, total: number, selected: number): string {
  const count = matched === total ? items(matched) : `${items(matched)} out of ${amount(total)}`;
  return selected === 0 ? count : `${count} (${amount(selected)} selected)`;
}

/** What stands where nothing has come yet. */
export function loadingText(stale: boolean): string {
  return stale ? 'Nothing comes from the router now; trying again.' : 'Loading';
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
      const { loaded, matched, context, total } = live.state;
      if (live.error !== undefined) return `Not shown: ${live.error}`;
      return loaded ? footerText(matched - context, total, selected) : undefined;
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
