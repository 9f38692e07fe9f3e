/** What the router runs on, and the load of its cores. */
import { SettingsForm } from '../../../menu/SettingsForm.tsx';
import type { WindowProps } from '../../window-props.ts';
import { CpuGraph } from './CpuGraph.tsx';

export default function ResourceWindow({ menu }: WindowProps) {
  return (
    <div className="split">
      <SettingsForm menu={menu} />
      <div role="group" className="split-below" tabIndex={0} aria-label="CPU load">
        <CpuGraph />
      </div>
    </div>
  );
}
