/** List of open windows on a phone, to go to or to close. */
import { ModalDialog } from '../ui/ModalDialog.tsx';
import { ToolButton } from '../ui/ToolButton.tsx';
import { act, useActiveId, useDesktop } from '../wm/desktop-state.ts';

interface Props {
  readonly onCloseRequest: (id: string) => void;
  readonly onClose: () => void;
}

export function WindowList({ onCloseRequest, onClose }: Props) {
  const windows = useDesktop((state) => state.windows);
  const active = useActiveId();
  return (
    <ModalDialog title="Open windows" size="small" onClose={onClose}>
      <ul className="window-list">
        {windows.map(({ id, title }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === active ? 'page' : undefined}
              onClick={() => {
                onClose();
                act({ do: 'focus', id });
              }}
            >
              {title}
            </button>
            <ToolButton
              name={`Close ${title}`}
              icon="close"
              onPress={({ detail }) => {
                // The second click of a double click would close the window that has moved up.
                if (detail < 2) onCloseRequest(id);
              }}
            />
          </li>
        ))}
      </ul>
      {windows.length === 0 && <p className="form-note">No window is open. Choose one from the menus.</p>}
    </ModalDialog>
  );
}
