import { type KeyboardEvent, useRef } from 'react';

interface ListProps {
  /** Prefix of element ids, unique on the page. */
  readonly id: string;
  readonly tabs: readonly string[];
  readonly active: string;
  /** Tabs that hold an error. */
  readonly marked?: ReadonlySet<string>;
  readonly onSelect: (tab: string) => void;
  readonly label?: string;
}

/** The row of tabs. Arrow keys, Home and End change the tab. Its panel has the id `<id>-panel`. */
export function TabList({ id, tabs, active, marked, onSelect, label = 'Tabs' }: ListProps) {
  const list = useRef<HTMLDivElement>(null);

  function onKeyDown(event: KeyboardEvent) {
    const at = tabs.indexOf(active);
    const to = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    }[event.key];
    const tab = to === undefined ? undefined : tabs[to];
    if (tab === undefined) return;
    event.preventDefault();
    onSelect(tab);
    const button = list.current?.children[tabs.indexOf(tab)];
    if (button instanceof HTMLElement) button.focus();
  }

  return (
    <div ref={list} role="tablist" className="tabs" aria-label={label}>
      {tabs.map((tab, index) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`${id}-tab-${index}`}
          aria-selected={tab === active}
          aria-controls={`${id}-panel`}
          tabIndex={tab === active ? 0 : -1}
          className={marked?.has(tab) ? 'tab tab-marked' : 'tab'}
          onClick={() => onSelect(tab)}
          onKeyDown={onKeyDown}
        >
          {tab}
        </button>
      ))}
    </div>
  );
}
