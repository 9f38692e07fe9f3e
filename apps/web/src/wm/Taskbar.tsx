/**
 * The open windows, in the order in which they were opened. A press activates a window, or minimises the active one.
 */
import { useEffect, useRef } from 'react';
import { act, openWindowMenu, useDesktop } from './desktop-state.ts';
import { activeId } from './reducer.ts';
import { taskLabels } from './task-label.ts';

export function Taskbar({ onCloseRequest }: { readonly onCloseRequest: (id: string) => void }) {
  const state = useDesktop();
  const active = activeId(state);
  const labels = taskLabels(state.windows);
  const bar = useRef<HTMLElement>(null);
  // If there are more windows than fit, the active one is scrolled into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another window is active
  useEffect(() => {
    bar.current?.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [active]);
  return (
    <nav ref={bar} className="taskbar" aria-label="Open windows">
      {state.windows.map(({ id, title, minimised, role }, at) => {
        const { name, kind, item, number } = labels[at] ?? {
          name: title,
          kind: title,
          item: ['', ''],
          number: undefined,
        };
        const [head, tail] = item;
        return (
          <button
            key={id}
            type="button"
            className={`task task-${role}${minimised ? ' task-minimised' : ''}`}
            aria-pressed={id === active}
            aria-label={name}
            title={minimised ? `${name} (minimised)` : name}
            onClick={() => act({ do: id === active ? 'minimise' : 'focus', id })}
            onAuxClick={(event) => event.button === 1 && onCloseRequest(id)}
            onContextMenu={(event) => {
              event.preventDefault();
              openWindowMenu(id, event.clientX, event.clientY);
            }}
          >
            {head !== '' && (
              <span className="task-item">
                <span className="task-cut">{head}</span>
                {tail}
              </span>
            )}
            <span className="task-kind">{kind}</span>
            {number !== undefined && <span>({number})</span>}
          </button>
        );
      })}
    </nav>
  );
}
