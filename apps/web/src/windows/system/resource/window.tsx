/** Machine that the router runs on, and the load of its cores. */
import { SettingsForm } from '../../../menu/SettingsForm.tsx';
import type { MenuWindowProps } from '../../window-props.ts';
import { CpuPane } from './CpuPane.tsx';

export default function ResourceWindow({ menu }: MenuWindowProps) {
  return (
    <div className="split">
      <SettingsForm menu={menu} />
      <CpuPane />
    </div>
  );
}
