/** The live table of connections; its footer tells how many there may be, and what the flags mean. */
import { thousands } from '@tollway/schema';
import { MenuTable } from '../../menu/MenuTable.tsx';
import { useLive, write } from '../../ui/use-live.ts';
import type { WindowProps } from '../bespoke.ts';
import { FlagLegend } from '../FlagLegend.tsx';
import { maxEntries, tracking } from './tracking.ts';

function MaxEntries() {
  const element = useLive<HTMLSpanElement>(tracking.listen, (span) => {
    const most = maxEntries();
    write(span, most > 0 ? `Max Entries: ${thousands(String(most))}` : '');
  });
  return <span ref={element} />;
}

export function ConnectionsWindow(props: WindowProps) {
  return (
    <MenuTable
      {...props}
      footer={
        <>
          <MaxEntries />
          <FlagLegend menu={props.menu} />
        </>
      }
    />
  );
}
