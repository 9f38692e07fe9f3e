/** Load, interrupts and disk waits of each core, and their load over the last minutes. */
import { MenuTable } from '../../../../menu/MenuTable.tsx';
import type { MenuWindowProps } from '../../../window-props.ts';
import { CpuPane } from '../CpuPane.tsx';

export default function CpuWindow(props: MenuWindowProps) {
  return (
    <div className="split">
      <MenuTable {...props} />
      <CpuPane />
    </div>
  );
}
