/** The log, with the newest messages at the bottom, in view until the user scrolls up. Freeze stops updates. */
import { useCallback, useContext, useState } from 'react';
import type { LiveMenu } from '../../api/live-menu.ts';
import { MenuTable } from '../../menu/MenuTable.tsx';
import { ToolButton } from '../../ui/ToolButton.tsx';
import { OpenWindow } from '../open-window.ts';
import { argumentsOfLogLine } from '../tool/packet-trace/packet-arguments.ts';
import { traceCommand } from '../tool/packet-trace/trace-command.ts';
import type { MenuWindowProps } from '../window-props.ts';

export default function LogWindow(props: MenuWindowProps) {
  const [live, setLive] = useState<LiveMenu>();
  const open = useContext(OpenWindow);
  const [frozen, setFrozen] = useState(false);
  const onSelection = useCallback((_: readonly string[], __: readonly string[], of: LiveMenu) => setLive(of), []);
  return (
    <MenuTable
      {...props}
      tail
      rowCommands={(rows) => [traceCommand(rows, argumentsOfLogLine, open)]}
      onSelection={onSelection}
      toolbar={
        live !== undefined && (
          <ToolButton
            name="Freeze"
            pressed={frozen}
            onPress={() => {
              live.freeze(!frozen);
              setFrozen(!frozen);
            }}
          />
        )
      }
      footer={frozen ? 'Frozen: new messages are shown only when Find or the filter changes.' : undefined}
    />
  );
}
