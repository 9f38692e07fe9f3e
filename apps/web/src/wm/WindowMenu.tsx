/** The menu of a window: everything that can be done with it by mouse or key, with the keys. */
import { type Command, PopupMenu } from '../ui/PopupMenu.tsx';
import { act, useDesktop, useKeyboardMove, useWindowMenu } from './desktop-state.ts';
import { windowOf } from './reducer.ts';

interface Props {
  /** Opens a second window with the same content. */
  readonly onAnother: (id: string) => void;
  readonly onCloseRequest: (id: string) => void;
  readonly onCloseAllRequest: () => void;
}

export function WindowMenu({ onAnother, onCloseRequest, onCloseAllRequest }: Props) {
  const menu = useWindowMenu();
  const win = useDesktop((state) => (menu.id === undefined ? undefined : windowOf(state, menu.id)));
  if (win === undefined) return null;
  const { id, maximised, minimised } = win;
  const fixed = maximised ? 'a maximised window fills the desktop' : minimised ? 'the window is minimised' : undefined;
  const keyboardMove = (what: 'move' | 'resize'): Command => ({
    label: what === 'move' ? 'Move' : 'Resize',
    shortcut: 'arrow keys',
    disabledReason: fixed,
    run: () => useKeyboardMove.setState({ id, what }),
  });
  return (
    <PopupMenu
      label={`Window ${win.title}`}
      at={menu}
      entries={[
        {
          label: 'Restore',
          disabledReason: maximised || minimised ? undefined : 'the window has its own size already',
          run: () => act({ do: minimised ? 'focus' : 'restore', id }),
        },
        keyboardMove('move'),
        keyboardMove('resize'),
        {
          label: 'Minimise',
          disabledReason: minimised ? 'the window is minimised already' : undefined,
          run: () => act({ do: 'minimise', id }),
        },
        {
          label: 'Maximise',
          shortcut: 'double-click',
          disabledReason: maximised ? 'the window is maximised already' : undefined,
          run: () => act({ do: 'maximise', id }),
        },
        'line',
        { label: 'New window', run: () => onAnother(id) },
        { label: 'Next window', shortcut: 'F6, Alt+]', run: () => act({ do: 'next' }) },
        { label: 'Previous window', shortcut: 'Shift+F6, Alt+[', run: () => act({ do: 'previous' }) },
        'line',
        { label: 'Close', shortcut: 'F4, Esc, Alt+W', run: () => onCloseRequest(id) },
        { label: 'Close all', run: onCloseAllRequest },
      ]}
      onClose={() => useWindowMenu.setState({ id: undefined })}
    />
  );
}
