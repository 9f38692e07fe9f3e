/**
 * Fetches the code of windows while the browser is idle: they then open at once, even while the router is not
 * reachable.
 */

import { menuWindowComponents, standaloneWindowComponents, tabExtras } from '../windows/bespoke.ts';
import { WindowMenu } from '../wm/window-menu.ts';
import { DiscardDialog, LoginAgain, WindowList } from './dialogs.ts';
import { ItemForm, MenuTable, NewItemForm, SettingsForm, TabList } from './generated-windows.ts';

/** Components to preload, the most used ones first. */
function componentsToPreload(): readonly { readonly preload: () => Promise<void> }[] {
  const contents = [...tabExtras.values()].flatMap((extras) => Object.values(extras).map(({ content }) => content));
  const shared = [
    TabList,
    MenuTable,
    DiscardDialog,
    ItemForm,
    NewItemForm,
    SettingsForm,
    WindowMenu,
    LoginAgain,
    WindowList,
  ];
  return [...shared, ...standaloneWindowComponents.values(), ...menuWindowComponents.values(), ...contents];
}

/** Delay that is used where the browser has no callback for idle time, as in Safari, ms. */
const SETTLED_MS = 2_000;

/** Runs a function when the browser is idle; returns the function that cancels it. */
function whenIdle(run: () => void): () => void {
  if (typeof window.requestIdleCallback !== 'function') {
    const timer = setTimeout(run, SETTLED_MS);
    return () => clearTimeout(timer);
  }
  const handle = window.requestIdleCallback(run);
  return () => window.cancelIdleCallback(handle);
}

/** Fetches the components one after the other; returns the function that stops it. */
export function preloadWindows(): () => void {
  const left = componentsToPreload().values();
  let cancel = () => {};
  let ended = false;
  const next = () => {
    const { value } = left.next();
    if (value === undefined || ended) return;
    void value.preload().then(() => {
      if (!ended) cancel = whenIdle(next);
    });
  };
  cancel = whenIdle(next);
  return () => {
    ended = true;
    cancel();
  };
}
