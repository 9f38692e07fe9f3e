/** The live table of connections; its footer shows their maximum number, and the meaning of the flags. */
import { thousands } from '@tollway/schema';
import { useContext } from 'react';
import { MenuTable } from '../../../../menu/MenuTable.tsx';
import { useLive, write } from '../../../../ui/use-live.ts';
import { FlagLegend } from '../../../FlagLegend.tsx';
import { OpenWindow } from '../../../open-window.ts';
import { argumentsOfConnection } from '../../../tool/packet-trace/packet-arguments.ts';
import { traceCommand } from '../../../tool/packet-trace/trace-command.ts';
import type { MenuWindowProps } from '../../../window-props.ts';
import { fullestShare, maxEntries, tracking } from './tracking.ts';

function MaxEntries() {
  const element = useLive<HTMLSpanElement>(tracking.listen, (span) => {
    const most = maxEntries();
    const full = fullestShare() >= 0.8 ? ` (one worker's share is ${Math.floor(fullestShare() * 100)}% full)` : '';
    write(span, most > 0 ? `Max Entries: ${thousands(String(most))}${full}` : '');
  });
  return <span ref={element} />;
}

export default function ConnectionsWindow(props: MenuWindowProps) {
  const open = useContext(OpenWindow);
  return (
    <MenuTable
      {...props}
      rowCommands={(rows) => [traceCommand(rows, argumentsOfConnection, open)]}
      footer={
        <>
          <MaxEntries />
          <FlagLegend menu={props.menu} />
        </>
      }
    />
  );
}
