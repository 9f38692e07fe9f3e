/** The interface list with live graphs of the selected interface below it. */
import { useCallback, useState } from 'react';
import type { LiveMenu } from '../../api/live-menu.ts';
import type { Row } from '../../api/row.ts';
import { MenuTable } from '../../menu/MenuTable.tsx';
import type { WindowProps } from '../bespoke.ts';
import { InterfaceGraphs } from './InterfaceGraphs.tsx';

export function InterfaceWindow(props: WindowProps) {
  const [row, setRow] = useState<Row>();
  const onSelection = useCallback((selected: readonly string[], loaded: readonly string[], live: LiveMenu) => {
    const id = selected[0] ?? loaded[0];
    setRow(id === undefined ? undefined : live.row(id));
  }, []);
  return (
    <div className="split">
      <MenuTable key={props.menu.path} {...props} onSelection={onSelection} />
      {row !== undefined && (
        <div role="group" className="split-below" tabIndex={0} aria-label={`Traffic of ${row.name ?? ''}`}>
          <InterfaceGraphs row={row} />
        </div>
      )}
    </div>
  );
}
