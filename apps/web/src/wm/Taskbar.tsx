/** The open windows in the order in which they were opened. A press brings one up, or puts the active one away. */
import { act, openWindowMenu, useDesk } from './desk-state.ts';
import { activeId } from './reducer.ts';

export function Taskbar() {
  const state = useDesk();
  const active = activeId(state);
  return (
    <nav className="taskbar" aria-label="Open windows">
      {state.windows.map(({ id, title, minimised, role }) => (
        <button
          key={id}
          type="button"
          className={`task task-${role}${minimised ? ' task-minimised' : ''}`}
          aria-pressed={id === active}
          title={minimised ? `${title} (minimised)` : title}
          onClick={() => act({ do: id === active ? 'minimise' : 'focus', id })}
          onAuxClick={(event) => event.button === 1 && act({ do: 'close', id })}
          onContextMenu={(event) => {
            event.preventDefault();
            openWindowMenu(id, event.clientX, event.clientY);
          }}
        >
          {title}
        </button>
      ))}
    </nav>
  );
}
