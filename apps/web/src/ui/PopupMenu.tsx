/**
 * A menu of commands at a point of the page, above everything else. Arrow keys and letters move, Enter runs, Escape
 * closes.
 */
import { Menu, MenuItem, MenuSeparator, useMenuStore } from '@ariakit/react';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react';

/** One command of a menu. */
export interface Command {
  readonly label: string;
  /** Keys with the same effect, e.g. `Ctrl+E`. */
  readonly shortcut?: string;
  /** Reason why it cannot be run now; undefined when it can. */
  readonly disabledReason?: string | undefined;
  /** Shows a tick before the label, for commands that toggle a state. */
  readonly checked?: boolean;
  readonly run: () => void;
}

interface Props {
  readonly label: string;
  /** Position of its top left corner, in CSS pixels of the viewport; it is moved if it would not fit. */
  readonly at: { readonly x: number; readonly y: number };
  /** Commands; `line` separates groups. */
  readonly entries: readonly (Command | 'line')[];
  readonly onClose: () => void;
}

const MARGIN_PX = 4;

export function PopupMenu({ label, at, entries, onClose }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  const store = useMenuStore({
    open: true,
    setOpen: (open) => {
      if (!open) close.current();
    },
    placement: 'bottom-start',
    focusLoop: true,
  });

  // The focus moves synchronously when the menu opens or closes, so that the next key reaches the right element.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = root.current;
    // In the top layer, as a window would clip it.
    element?.closest<HTMLElement>('[popover]')?.showPopover();
    element?.querySelector<HTMLElement>('button:enabled')?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected && element?.contains(document.activeElement)) {
        opener.focus();
      }
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu is placed anew when its position changes
  useEffect(() => store.render(), [store, at]);

  useEffect(() => {
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node | null)) close.current();
    };
    const leave = () => close.current();
    window.addEventListener('pointerdown', outside, true);
    window.addEventListener('blur', leave);
    window.addEventListener('resize', leave);
    return () => {
      window.removeEventListener('pointerdown', outside, true);
      window.removeEventListener('blur', leave);
      window.removeEventListener('resize', leave);
    };
  }, []);

  // A command that becomes disabled loses the focus; keys must still reach the menu.
  useEffect(() => {
    const element = root.current;
    const { activeElement } = document;
    if (element === null || (element.contains(activeElement) && activeElement?.matches(':disabled') !== true)) return;
    (element.querySelector<HTMLElement>('button:enabled') ?? element).focus();
  });

  function onKeyDown(event: KeyboardEvent) {
    // Elements under the menu must not receive its keys.
    event.stopPropagation();
    if (event.key !== 'Tab' && event.key !== 'Escape') return;
    event.preventDefault();
    onClose();
  }

  let lines = 0;
  return (
    <Menu
      ref={root}
      store={store}
      // Closing and the focus are handled by the effects above.
      autoFocusOnShow={false}
      autoFocusOnHide={false}
      hideOnEscape={false}
      hideOnInteractOutside={false}
      fixed
      flip={false}
      overlap
      arrowPadding={0}
      overflowPadding={MARGIN_PX}
      gutter={0}
      getAnchorRect={() => at}
      wrapperProps={{ popover: 'manual', className: 'popup-layer' }}
      aria-label={label}
      className="popup-menu"
      onKeyDown={onKeyDown}
    >
      {entries.map((entry) =>
        entry === 'line' ? (
          <MenuSeparator key={`line ${lines++}`} />
        ) : (
          <MenuItem
            key={entry.label}
            render={<button type="button" />}
            {...(entry.checked === undefined ? {} : { role: 'menuitemcheckbox', 'aria-checked': entry.checked })}
            disabled={entry.disabledReason !== undefined}
            title={entry.disabledReason}
            hideOnClick={false}
            onClick={() => {
              // The menu closes first, so that the command finds the focus at its former position.
              onClose();
              entry.run();
            }}
          >
            <span className="popup-tick" aria-hidden="true">
              {entry.checked === true ? '✓' : ''}
            </span>
            <span className="popup-label">{entry.label}</span>
            {entry.shortcut !== undefined && <kbd>{entry.shortcut}</kbd>}
          </MenuItem>
        ),
      )}
    </Menu>
  );
}
