/** Text field that finds windows, menus and commands. */
import type { MenuOutline } from '@tollway/schema';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { act, useDesktop } from '../wm/desktop-state.ts';
import { DENSITIES, setAppearance, THEMES } from './appearance.ts';
import { openAddress } from './navigation.ts';
import { type Entry, matchingEntries, menuEntries, shortcutEntries } from './palette-entries.ts';
import { mayAddTo, useUserGroup } from './permitted.ts';

interface Props {
  readonly onTree: () => void;
  /** Closes all windows, after a confirmation if there are unsaved changes. */
  readonly onCloseAllRequest: () => void;
  /** Logs out, after a confirmation if there are unsaved changes. */
  readonly onLogOut: () => void;
  readonly onClose: () => void;
}

function windowEntries(): readonly Entry[] {
  return useDesktop.getState().windows.map(({ id, title, minimised }) => ({
    label: title,
    hint: minimised ? 'open window, minimised' : 'open window',
    words: 'window',
    run: () => act({ do: 'focus', id }),
  }));
}

function commandEntries({ onTree, onCloseAllRequest, onLogOut }: Omit<Props, 'onClose'>): readonly Entry[] {
  const entry = (label: string, words: string, run: () => void): Entry => ({ label, hint: 'command', words, run });
  return [
    entry('Cascade windows', 'arrange', () => act({ do: 'cascade' })),
    entry('Minimise all windows', 'hide desktop', () => act({ do: 'minimise-all' })),
    entry('Close all windows', '', onCloseAllRequest),
    entry('Show or hide the menu tree', 'toggle sidebar', onTree),
    ...THEMES.map((theme) => entry(`Theme: ${theme}`, 'appearance dark light colours', () => setAppearance({ theme }))),
    ...DENSITIES.map((density) => entry(`Rows: ${density}`, 'density height', () => setAppearance({ density }))),
    entry('Log out', 'exit session', onLogOut),
  ];
}

export function Palette({ onTree, onCloseAllRequest, onLogOut, onClose }: Props) {
  const listId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const userGroup = useUserGroup();
  const entries = useMemo(() => {
    const mayAdd = (menu: MenuOutline) => mayAddTo(menu, userGroup);
    const items = [...menuEntries(openAddress, mayAdd), ...shortcutEntries(openAddress, mayAdd)];
    return [...windowEntries(), ...items, ...commandEntries({ onTree, onCloseAllRequest, onLogOut })];
  }, [onTree, onCloseAllRequest, onLogOut, userGroup]);
  const shown = useMemo(() => matchingEntries(entries, typed), [entries, typed]);

  useEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    const opener = document.activeElement;
    element.showModal();
    return () => {
      element.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);

  function choose(entry: Entry | undefined) {
    if (entry === undefined) return;
    // The palette first returns the focus, so that an opened window can take it; the next key then applies to that
    // window.
    flushSync(onClose);
    entry.run();
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) {
      const next = Math.max(0, Math.min(shown.length - 1, active + step));
      setActive(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') choose(shown[active]);
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Find a window or command"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={onClose}
      onPointerDown={(event) => event.target === event.currentTarget && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Window, menu or command"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={shown.length > 0 ? `${listId}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder="Window, menu or command"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setActive(0);
          list.current?.scrollTo(0, 0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} role="listbox" id={listId} aria-label="What was found" className="palette-list">
        {shown.map((entry, index) => (
          <div
            key={`${entry.hint} ${entry.label}`}
            role="option"
            id={`${listId}-${index}`}
            tabIndex={-1}
            aria-selected={index === active}
            className="palette-entry"
            onPointerMove={() => index !== active && setActive(index)}
            onClick={() => choose(entry)}
            onKeyDown={onKeyDown}
          >
            <span>{entry.label}</span>
            <small>{entry.hint}</small>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p className="form-note">Nothing has these words.</p>}
    </dialog>
  );
}
