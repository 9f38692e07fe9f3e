/** Fetches the code of windows while nothing else is to be done: they open at once, and also while the router is away. */

import { menuWindowComponents, standaloneWindowComponents, tabExtras } from '../windows/bespoke.ts';
import { WindowMenu } from '../wm/window-menu.ts';
import { DiscardDialog, LoginAgain, WindowList } from './dialogs.ts';
import { ItemForm, MenuTable, NewItemForm, SettingsForm, TabList } from './generated-windows.ts';

/** Components to load ahead, those that are opened most first. */
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

/** Time that the page has had until then, ms, where there is no callback for idle times, as in Safari. */
const SETTLED_MS = 2_000;

/** Runs something when the browser is idle; returns what calls that off. */
function whenIdle(run: () => void): () => void {
  if (typeof window.requestIdleCallback !== 'function') {
    const timer = setTimeout(run, SETTLED_MS);
    return () => clearTimeout(timer);
  }
  const handle = window.requestIdleCallback(run);
  return () => window.cancelIdleCallback(handle);
}

/** Fetches one after another; returns what ends that. */
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
