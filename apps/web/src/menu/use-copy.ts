/** Copying the selected rows of a grid as text. */

import type { Menu } from '@tollway/schema';
import type { ClipboardEvent, RefObject } from 'react';
import { live as socket } from '../api/live.ts';
import { type LiveMenu, mapItems } from '../api/live-menu.ts';
import { copyText } from '../ui/clipboard.ts';
import { showError, showToast } from '../ui/toasts.ts';
import type { Column } from './columns.ts';
import { items } from './item.ts';
import { rowsText } from './rows-text.ts';
import { inOrder, type Selection } from './selection.ts';
import type { TableSelection } from './use-selection.ts';

interface Copied {
  readonly columns: readonly Column[];
  readonly selection: Selection;
  readonly pending: TableSelection['pending'];
}

export interface Copy {
  /** Writes the selected rows to the clipboard. */
  readonly toClipboard: () => void;
  /** Handles the browser's `copy` event. */
  readonly onCopy: (event: ClipboardEvent) => void;
}

/** @param latest the properties of the grid at its last rendering */
export function useCopy(
  menu: Menu,
  live: LiveMenu,
  latest: RefObject<Copied>,
  scroller: RefObject<HTMLElement | null>,
): Copy {
  /** The selected rows as text; undefined while some are not loaded, or a selection is pending. */
  function selectedText(): string | undefined {
    const { columns, selection, pending } = latest.current;
    if (pending.current !== undefined) return undefined;
    const rows = inOrder(selection, live.shown)
      .map((id) => live.row(id))
      .filter((row) => row !== undefined);
    return rows.length === selection.ids.size ? rowsText(columns, rows) : undefined;
  }

  /** Copies the selected rows after the missing ones have been fetched. */
  async function copyFetched() {
    try {
      if ((await latest.current.pending.current) === false) return;
      const { ids } = latest.current.selection;
      const rows = await mapItems(socket, menu.path, live.query, (id, row) => (ids.has(id) ? row : undefined));
      const copied = copyText(rowsText(latest.current.columns, rows));
      scroller.current?.focus({ preventScroll: true });
      if (copied) showToast({ kind: 'info', text: `Copied ${items(rows.length)}.` });
      else showToast({ kind: 'error', text: 'Not copied: the rows came too late for the browser. Try again.' });
    } catch (error) {
      showError('Not copied', error);
    }
  }

  return {
    toClipboard() {
      const text = selectedText();
      if (text === undefined) return void copyFetched();
      copyText(text);
      scroller.current?.focus({ preventScroll: true });
    },
    onCopy(event) {
      // Text that is selected with the mouse is copied by the browser.
      if (window.getSelection()?.isCollapsed === false || latest.current.selection.ids.size === 0) return;
      event.preventDefault();
      const text = selectedText();
      if (text === undefined) void copyFetched();
      else event.clipboardData.setData('text/plain', text);
    },
  };
}
