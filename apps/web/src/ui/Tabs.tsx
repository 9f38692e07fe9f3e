/** The row of tabs above a panel. Arrow keys, Home and End change the tab. */
import { Tab, TabList as Tabs, useTabStore } from '@ariakit/react';

interface ListProps {
  /** Prefix of element ids, unique on the page. The panel has the id `<id>-panel`. */
  readonly id: string;
  readonly tabs: readonly string[];
  readonly active: string;
  /** Tabs that contain an error. */
  readonly marked?: ReadonlySet<string>;
  readonly onSelect: (tab: string) => void;
  readonly label?: string;
}

export function TabList({ id, tabs, active, marked, onSelect, label = 'Tabs' }: ListProps) {
  const idOf = (tab: string) => `${id}-tab-${tabs.indexOf(tab)}`;
  const store = useTabStore({
    selectedId: idOf(active),
    setSelectedId: (selected) => {
      const tab = tabs.find((each) => idOf(each) === selected);
      if (tab !== undefined && tab !== active) onSelect(tab);
    },
  });
  return (
    <Tabs store={store} className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Tab
          key={tab}
          id={idOf(tab)}
          aria-controls={`${id}-panel`}
          className={marked?.has(tab) ? 'tab tab-marked' : 'tab'}
        >
          {tab}
        </Tab>
      ))}
    </Tabs>
  );
}
