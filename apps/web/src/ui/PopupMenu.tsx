/** A menu of commands at a point of the page, above everything. Arrow keys move, Enter runs, Escape leaves. */
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react';

/** One command of a menu. */
export interface Command {
  readonly label: string;
  /** Keys that do the same, e.g. `Ctrl+E`. */
  readonly shortcut?: string;
  /** Why it cannot be run now; undefined when it can. */
  readonly disabledReason?: string | undefined;
  /** A tick before the label, for commands that switch something. */
  readonly checked?: boolean;
  readonly run: () => void;
}

interface Props {
  readonly label: string;
  /** Where its top left corner should be, in CSS pixels of the viewport; it moves to stay inside. */
  readonly at: { readonly x: number; readonly y: number };
  /** Commands; `line` draws one between groups. */
  readonly entries: readonly (Command | 'line')[];
  readonly onClose: () => void;
}

const MARGIN_PX = 4;

export function PopupMenu({ label, at, entries, onClose }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;

  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return;
    const opener = document.activeElement;
    // The top layer: no window clips it.
    element.showPopover();
    const { width, height } = element.getBoundingClientRect();
    const x = Math.max(MARGIN_PX, Math.min(at.x, window.innerWidth - width - MARGIN_PX));
    const y = Math.max(MARGIN_PX, Math.min(at.y, window.innerHeight - height - MARGIN_PX));
    element.style.translate = `${Math.round(x)}px ${Math.round(y)}px`;
    element.querySelector<HTMLElement>('button:enabled')?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected && element.contains(document.activeElement)) {
        opener.focus();
      }
    };
  }, [at]);

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

  // A command that can no longer be run lets go of the focus; the keys are still the menu's.
  useEffect(() => {
    const element = root.current;
    const { activeElement } = document;
    if (element === null || (element.contains(activeElement) && activeElement?.matches(':disabled') !== true)) return;
    (element.querySelector<HTMLElement>('button:enabled') ?? element).focus();
  });

  function onKeyDown(event: KeyboardEvent) {
    // What is under the menu must not take its keys.
    event.stopPropagation();
    const items = [...(root.current?.querySelectorAll<HTMLElement>('button:enabled') ?? [])];
    const focus = items.findIndex((item) => item.matches(':focus'));
    const to = {
      ArrowDown: (focus + 1) % items.length,
      ArrowUp: (focus + items.length - 1) % items.length,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (to !== undefined) items[to]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else return;
    event.preventDefault();
  }

  let lines = 0;
  return (
    <div
      ref={root}
      popover="manual"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      className="popup-menu"
      onKeyDown={onKeyDown}
    >
      {entries.map((entry) =>
        entry === 'line' ? (
          <hr key={`line ${lines++}`} />
        ) : (
          <button
            key={entry.label}
            type="button"
            {...(entry.checked === undefined
              ? { role: 'menuitem' }
              : { role: 'menuitemcheckbox', 'aria-checked': entry.checked })}
            tabIndex={-1}
            disabled={entry.disabledReason !== undefined}
            title={entry.disabledReason}
            onClick={() => {
              // First the menu, so that the command finds the focus where it was.
              onClose();
              entry.run();
            }}
          >
            <span className="popup-tick" aria-hidden="true">
              {entry.checked === true ? '✓' : ''}
            </span>
            <span className="popup-label">{entry.label}</span>
            {entry.shortcut !== undefined && <kbd>{entry.shortcut}</kbd>}
          </button>
        ),
      )}
    </div>
  );
}
