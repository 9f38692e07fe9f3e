/** Opens, closes and remembers windows, and keeps the address bar and the browser's history consistent with them. */

import { readStored, writeStored } from '../ui/browser-storage.ts';
import { showToast } from '../ui/toasts.ts';
import { DASHBOARD } from '../windows/define-windows.ts';
import { act, focusActive, useDesktop } from '../wm/desktop-state.ts';
import { deserialise, serialise } from '../wm/persist.ts';
import { activeId, type DesktopWindow, emptyDesktop, windowOf } from '../wm/reducer.ts';
import { contentOf, isRestorable } from './content.ts';
import { isNarrow } from './narrow.ts';
import { isUnsaved } from './unsaved.ts';

/** Opens the window for an address, or brings it to the front if it is open already. */
export function openAddress(address: string, another = false): void {
  const content = contentOf(address);
  if (content === undefined) showToast({ kind: 'error', text: `There is no menu at ${address}.` });
  else {
    act({ do: 'open', content, another });
    focusActive();
  }
}

/** Opens a second window with the content of an open one. */
export function openAnother(id: string): void {
  const win = windowOf(useDesktop.getState(), id);
  if (win !== undefined) openAddress(win.address, true);
}

/** Number of steps that the back button of a phone can go back. */
function historyDepth(): number {
  const state: unknown = window.history.state;
  return typeof state === 'object' && state !== null && 'depth' in state && typeof state.depth === 'number'
    ? state.depth
    : 0;
}

function currentAddress(): string {
  return window.location.pathname + window.location.search;
}

/** The window to close when the browser has gone back. */
let closingOnBack: string | undefined;

/**
 * Closes a window. On a phone this also goes back in the history, so that the back button does not lead to a closed
 * window.
 */
export function closeWindow(id: string): void {
  if (isNarrow() && historyDepth() > 0 && activeId(useDesktop.getState()) === id) {
    closingOnBack = id;
    window.history.back();
  } else act({ do: 'close', id });
}

/** Whether a dialog closes when the browser goes back from it: it does, unless unsaved changes would be lost. */
function closesOnBack(win: DesktopWindow | undefined): boolean {
  if (win?.role !== 'dialog') return false;
  if (!isUnsaved(win.id)) return true;
  showToast({ kind: 'info', text: `${win.title} stays open: what was changed in it is not applied.` });
  return false;
}

/** Shows the previous page. A dialog closes; a list stays open in the background. The last page is closed. */
export function goBack(id: string, close: (id: string) => void): void {
  const state = useDesktop.getState();
  const below = state.order.at(-2);
  if (historyDepth() > 0) window.history.back();
  else if (below === undefined) close(id);
  else if (closesOnBack(windowOf(state, id))) act({ do: 'close', id });
  else act({ do: 'focus', id: below });
}

/** Writes the address of the active window into the address bar, and handles the browser's back and forward buttons. */
export function followAddress(): () => void {
  let following = false;
  const write = (windows: number, before: number) => {
    const state = useDesktop.getState();
    const active = activeId(state);
    const address = (active === undefined ? undefined : windowOf(state, active)?.address) ?? '/';
    if (following || address === currentAddress()) return;
    // On a desktop the active window changes all the time, so that the address is replaced; on a phone each page is an
    // entry of the history.
    if (isNarrow() && windows >= before) window.history.pushState({ depth: historyDepth() + 1 }, '', address);
    else window.history.replaceState({ depth: historyDepth() }, '', address);
  };
  write(0, 1);
  const stop = useDesktop.subscribe((state, before) => write(state.windows.length, before.windows.length));
  const follow = () => {
    const state = useDesktop.getState();
    const id = activeId(state);
    const win = id === undefined ? undefined : windowOf(state, id);
    following = true;
    if (isNarrow() && win !== undefined && (win.id === closingOnBack || closesOnBack(win)))
      act({ do: 'close', id: win.id });
    closingOnBack = undefined;
    if (contentOf(currentAddress()) !== undefined) openAddress(currentAddress());
    following = false;
  };
  window.addEventListener('popstate', follow);
  return () => {
    stop();
    window.removeEventListener('popstate', follow);
    // The next user has other windows.
    window.history.replaceState({ depth: 0 }, '', '/');
  };
}

const SAVE_MS = 400;

/**
 * Opens the windows that a user had open, and the window of the address bar. Stores them until the returned function is
 * called.
 * @param user id of the user
 */
export function persistDesktop(user: string): () => void {
  const name = `desk.${user}`;
  const { desktop } = useDesktop.getState();
  const restored = deserialise(
    readStored(name),
    (win) => isRestorable(win.address) && contentOf(win.address)?.key === win.key,
  );
  useDesktop.setState({ ...(restored ?? emptyDesktop), desktop }, true);
  if (currentAddress() !== '/') openAddress(currentAddress());
  if (restored === undefined && useDesktop.getState().windows.length === 0) openAddress(DASHBOARD);

  let timer: ReturnType<typeof setTimeout> | undefined;
  const save = () => {
    clearTimeout(timer);
    timer = undefined;
    writeStored(
      name,
      serialise(useDesktop.getState(), (win) => isRestorable(win.address)),
    );
  };
  const flush = () => timer !== undefined && save();
  const stop = useDesktop.subscribe(() => {
    timer ??= setTimeout(save, SAVE_MS);
  });
  window.addEventListener('pagehide', flush);
  return () => {
    stop();
    flush();
    window.removeEventListener('pagehide', flush);
    useDesktop.setState({ ...emptyDesktop, desktop: useDesktop.getState().desktop }, true);
  };
}
