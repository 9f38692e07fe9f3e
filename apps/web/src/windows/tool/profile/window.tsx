/** Processor time by task, live. It is measured only while the window is subscribed. */
import { useContext, useEffect, useLayoutEffect, useState } from 'react';
import { onProfile, profileHandovers, profileOutOfOrder, profileUsages, type Usage } from '../../../api/profile.ts';
import { useVisible } from '../../../ui/visibility.ts';
import { act } from '../../../wm/desktop-state.ts';
import { WindowId } from '../../../wm/window-id.ts';
import { CpuPane } from '../../system/resource/CpuPane.tsx';
import type { MenuWindowProps } from '../../window-props.ts';
import { busyCores, coresOf, profileOf } from './profile-rows.ts';
import './profile.css';
import { RunControls } from '../RunControls.tsx';

export default function ProfileWindow({ menu }: MenuWindowProps) {
  const [running, setRunning] = useState(true);
  const [cpu, setCpu] = useState('total');
  const [rows, setRows] = useState<readonly Usage[]>([]);
  const visible = useVisible();
  const id = useContext(WindowId);
  const title = running ? `${menu.title} (Running)` : menu.title;
  useEffect(() => (running && visible ? onProfile(() => setRows(profileUsages())) : undefined), [running, visible]);
  useLayoutEffect(() => act({ do: 'rename', id, title }), [id, title]);

  const shown = profileOf(rows, cpu);
  return (
    <div className="split">
      <div role="group" className="menu-table" aria-label={menu.title}>
        <div className="toolbar" role="toolbar" aria-label="Profile commands">
          <RunControls running={running} onStart={() => setRunning(true)} onStop={() => setRunning(false)}>
            <label className="toolbar-field">
              CPU
              <select value={cpu} onChange={(event) => setCpu(event.target.value)}>
                <option>total</option>
                <option>all</option>
                {coresOf(rows).map((core) => (
                  <option key={core}>{core}</option>
                ))}
              </select>
            </label>
          </RunControls>
        </div>
        <div className="profile-scroll">
          <UsageTable rows={shown} perCore={cpu === 'all'} />
          {shown.length === 0 && <p className="form-note">{running ? 'Measuring' : 'Press Start to measure.'}</p>}
        </div>
        <footer className="table-foot">{footText(rows, shown, cpu)}</footer>
      </div>
      <CpuPane />
    </div>
  );
}

/**
 * Number of rows, and their sum (100 % for each core). For all cores: the load of each core, the number of packets that
 * workers hand over to other workers, and the number of TCP segments that arrive out of order.
 */
function footText(rows: readonly Usage[], shown: readonly Usage[], cpu: string): string {
  const between = `handed over between workers: ${profileHandovers()} p/s; TCP out of order: ${profileOutOfOrder()} p/s`;
  if (cpu === 'all') {
    const busy = busyCores(rows).map(({ core, busy: percent }) => `cpu${core} ${percent.toFixed(1)}%`);
    return `${shown.length} items; busy: ${busy.join(', ')}; ${between}`;
  }
  const sum = shown.reduce((total, row) => total + row.usage, 0);
  return `${shown.length} items, sum ${sum.toFixed(1)}%; ${between}`;
}

function UsageTable({ rows, perCore }: { readonly rows: readonly Usage[]; readonly perCore: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: found and read as the lists of the other windows are
    <table role="grid" className="profile" aria-label="Processor time by class of work">
      <thead>
        <tr>
          <th scope="col">Name</th>
          {perCore && <th scope="col">CPU</th>}
          <th scope="col" className="cell-right">
            Usage
          </th>
          <th scope="col">
            <span className="visually-hidden">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.cpu} ${row.name}`}>
            <td>{row.name}</td>
            {perCore && <td>{row.cpu}</td>}
            <td className="cell-right">{row.usage.toFixed(1)}%</td>
            <td>
              <div
                className={row.name === 'idle' ? 'bar bar-idle' : 'bar'}
                style={{ inlineSize: `${Math.min(row.usage, 100)}%` }}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
