/** The interface list with live graphs of the selected interface below it. */
import { useCallback, useState, useSyncExternalStore } from 'react';
import type { LiveMenu } from '../../api/live-menu.ts';
import { MenuTable } from '../../menu/MenuTable.tsx';
import type { MenuWindowProps } from '../window-props.ts';
import { InterfaceGraphs } from './InterfaceGraphs.tsx';

export default function InterfaceWindow(props: MenuWindowProps) {
  const [shown, setShown] = useState<{ readonly id: string; readonly live: LiveMenu }>();
  const onSelection = useCallback((selected: readonly string[], loaded: readonly string[], live: LiveMenu) => {
    const id = selected[0] ?? loaded[0];
    setShown((now) => (id === undefined ? undefined : now?.id === id && now.live === live ? now : { id, live }));
  }, []);
  // Renders when the interface is renamed, but not when its counters change.
  const name = useSyncExternalStore(
    useCallback((changed) => shown?.live.subscribe(changed) ?? (() => {}), [shown]),
    () => (shown === undefined ? undefined : shown.live.row(shown.id)?.name),
  );
  return (
    <div className="split">
      <MenuTable key={props.menu.path} {...props} onSelection={onSelection} />
      {shown !== undefined && name !== undefined && (
        <div role="group" className="split-below" tabIndex={0} aria-label={`Traffic of ${name}`}>
          <InterfaceGraphs row={{ '.id': shown.id, name }} />
        </div>
      )}
    </div>
  );
}
