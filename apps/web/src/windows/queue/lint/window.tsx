/**
 * Hints about queues. The selected hint, or else the first, is shown in full below the list; a double click opens its
 * queue.
 */
import { useCallback, useContext, useState, useSyncExternalStore } from 'react';
import type { LiveMenu } from '../../../api/live-menu.ts';
import type { Row } from '../../../api/row.ts';
import { MenuTable } from '../../../menu/MenuTable.tsx';
import { OpenWindow, useLinks } from '../../open-window.ts';
import type { MenuWindowProps } from '../../window-props.ts';

/** Address of the queue that a hint is about. */
const queueOf = (hint: Row): string => `${hint.menu}/${hint['queue-id']}`;

export default function HintsWindow(props: MenuWindowProps) {
  const open = useContext(OpenWindow);
  const follow = useLinks();
  const [live, setLive] = useState<LiveMenu>();
  const [id, setId] = useState<string>();
  const onSelection = useCallback((selected: readonly string[], loaded: readonly string[], of: LiveMenu) => {
    setLive(of);
    setId(selected[0] ?? loaded[0]);
  }, []);
  // After a change of the configuration, another hint may have the same id.
  const hint = useSyncExternalStore(
    useCallback((changed) => live?.subscribe(changed) ?? (() => {}), [live]),
    () => (id === undefined ? undefined : live?.row(id)),
  );
  return (
    <div className="menu-table">
      <MenuTable
        {...props}
        onSelection={onSelection}
        onOpen={(id) => {
          const opened = live?.row(id);
          if (opened !== undefined) open(queueOf(opened));
        }}
        rowCommands={([first]) => [
          {
            label: 'Open Queue',
            disabledReason: first === undefined ? 'select a hint' : undefined,
            run: () => first && open(queueOf(first)),
          },
        ]}
      />
      {hint !== undefined && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link clicks it
        <p className="whole-text" role="status" onClick={follow}>
          <a href={queueOf(hint)}>{hint.queue}</a>: {hint.message}
        </p>
      )}
    </div>
  );
}
