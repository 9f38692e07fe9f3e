/**
 * The state of the window manager, and its actions. Pure: it knows neither the DOM nor the content of windows, which
 * are addresses that the shell interprets.
 */
import { adjustedRect, MIN_SIZE, type Rect, reachableRect, type Size, sameRect, wholeRect } from './geometry.ts';

/** Content of a new window. */
export interface Content {
  readonly address: string;
  /** Windows with the same key have the same content; a second one is only opened on request. */
  readonly key: string;
  /** Key of {@link DesktopState.placements}: a window opens where the last closed window with the same key was. */
  readonly place: string;
  readonly role: 'region' | 'dialog';
  readonly title: string;
  /** Initial size. */
  readonly size: Size;
}

export interface DesktopWindow {
  /** Identifies the window during its lifetime. */
  readonly id: string;
  readonly address: string;
  readonly key: string;
  readonly place: string;
  readonly role: Content['role'];
  readonly title: string;
  /** Position and size, set while the desktop had the size `within`; {@link shownRect} gives the present ones. */
  readonly rect: Rect;
  readonly within: Size;
  readonly maximised: boolean;
  readonly minimised: boolean;
  /** True when the user has set the size; otherwise the height follows the content. */
  readonly sized: boolean;
}

/** Position, size and mode of a closed window. */
export interface WindowPlacement {
  readonly rect: Rect;
  readonly within: Size;
  readonly maximised: boolean;
  readonly sized: boolean;
}

export interface DesktopState {
  /** Size of the area for windows, px. */
  readonly desktop: Size;
  /** Windows in the order in which they were opened. */
  readonly windows: readonly DesktopWindow[];
  /** Stacking order: ids of all windows, the lowest first. */
  readonly order: readonly string[];
  /** Placements of closed windows, by {@link Content.place}, least recently used first. */
  readonly placements: Readonly<Record<string, WindowPlacement>>;
  readonly nextId: number;
}

export type Action =
  | { readonly do: 'open'; readonly content: Content; readonly another?: boolean }
  | { readonly do: 'focus' | 'minimise' | 'maximise' | 'restore' | 'close'; readonly id: string }
  | { readonly do: 'put'; readonly id: string; readonly rect: Rect }
  /** Fits the height of a window to its content, unless the user has set its size. */
  | { readonly do: 'fit'; readonly id: string; readonly height: number }
  | { readonly do: 'show'; readonly id: string; readonly address: string; readonly key: string }
  | { readonly do: 'rename'; readonly id: string; readonly title: string }
  | { readonly do: 'desktop'; readonly size: Size }
  | { readonly do: 'next' | 'previous' | 'cascade' | 'minimise-all' | 'close-all' };

/** Distance from one cascading window to the next, px. */
const CASCADE_PX = 28;

/** Maximum number of closed windows whose placements are remembered. */
export const MAX_PLACEMENTS = 80;

export const emptyDesktop: DesktopState = {
  desktop: { width: 1200, height: 700 },
  windows: [],
  order: [],
  placements: {},
  nextId: 1,
};

export function windowOf(state: DesktopState, id: string): DesktopWindow | undefined {
  return state.windows.find((win) => win.id === id);
}

/** Id of the window that receives keys: the highest one that is not minimised. */
export function activeId(state: DesktopState): string | undefined {
  return state.order.findLast((id) => windowOf(state, id)?.minimised === false);
}

/** Place of a window on the desktop now. */
export function shownRect(win: DesktopWindow, desktop: Size): Rect {
  return win.maximised ? { x: 0, y: 0, ...desktop } : adjustedRect(win.rect, win.within, desktop);
}

function change(state: DesktopState, id: string, part: Partial<DesktopWindow>): DesktopState {
  return { ...state, windows: state.windows.map((win) => (win.id === id ? { ...win, ...part } : win)) };
}

function raise(state: DesktopState, id: string): DesktopState {
  const win = windowOf(state, id);
  if (win === undefined || (!win.minimised && state.order.at(-1) === id)) return state;
  const order = [...state.order.filter((other) => other !== id), id];
  return { ...(win.minimised ? change(state, id, { minimised: false }) : state), order };
}

/** A free position in the cascade that starts at `from`. */
function cascaded(state: DesktopState, from: Rect): Rect {
  const taken = new Set(
    state.windows
      .filter((win) => !win.minimised && !win.maximised)
      .map((win) => shownRect(win, state.desktop))
      .map(({ x, y }) => `${x} ${y}`),
  );
  const columns = Math.max(1, Math.floor((state.desktop.width - from.x - from.width) / CASCADE_PX) + 1);
  const rows = Math.max(1, Math.floor((state.desktop.height - from.y - from.height) / CASCADE_PX) + 1);
  const most = Math.max(columns, rows, state.windows.length + 1);
  for (let step = 0; step < most; step++) {
    const rect = reachableRect(
      { ...from, x: from.x + (step % columns) * CASCADE_PX, y: from.y + (step % rows) * CASCADE_PX },
      state.desktop,
    );
    if (!taken.has(`${rect.x} ${rect.y}`)) return rect;
  }
  return reachableRect(from, state.desktop);
}

function firstRect({ desktop }: DesktopState, size: Size): Rect {
  const margin = 16;
  const width = Math.max(MIN_SIZE.width, Math.min(size.width, desktop.width - 2 * margin));
  const height = Math.max(MIN_SIZE.height, Math.min(size.height, desktop.height - 2 * margin));
  return reachableRect({ x: margin, y: margin, width, height }, desktop);
}

function open(state: DesktopState, content: Content, another: boolean): DesktopState {
  const here = state.order.findLast((id) => windowOf(state, id)?.key === content.key);
  if (here !== undefined && !another) return raise(change(state, here, { address: content.address }), here);
  const known = state.placements[content.place];
  const first = firstRect(state, content.size);
  // A window that extended beyond an edge when it was closed is opened completely on the desktop.
  const last =
    known === undefined ? first : wholeRect(adjustedRect(known.rect, known.within, state.desktop), state.desktop);
  const from =
    known?.sized === false ? reachableRect({ ...last, width: first.width, height: first.height }, state.desktop) : last;
  const { size, ...shown } = content;
  const win: DesktopWindow = {
    ...shown,
    id: `w${state.nextId}`,
    rect: cascaded(state, from),
    within: state.desktop,
    maximised: known?.maximised ?? false,
    minimised: false,
    sized: known?.sized ?? false,
  };
  return {
    ...state,
    windows: [...state.windows, win],
    order: [...state.order, win.id],
    nextId: state.nextId + 1,
  };
}

function remember(placements: DesktopState['placements'], win: DesktopWindow): DesktopState['placements'] {
  const { [win.place]: _, ...rest } = placements;
  const { rect, within, maximised, sized } = win;
  const kept = Object.entries(rest).slice(-(MAX_PLACEMENTS - 1));
  return { ...Object.fromEntries(kept), [win.place]: { rect, within, maximised, sized } };
}

function close(state: DesktopState, id: string): DesktopState {
  const win = windowOf(state, id);
  if (win === undefined) return state;
  return {
    ...state,
    windows: state.windows.filter((other) => other.id !== id),
    order: state.order.filter((other) => other !== id),
    placements: remember(state.placements, win),
  };
}

/** Activates the window that was opened after (1) or before (-1) the active one; minimised ones only if all are. */
function cycle(state: DesktopState, by: 1 | -1): DesktopState {
  const awake = state.windows.filter((win) => !win.minimised);
  const among = awake.length > 0 ? awake : state.windows;
  const active = activeId(state);
  const at = among.findIndex((win) => win.id === active);
  const to = among[at < 0 ? 0 : (at + by + among.length) % among.length];
  return to === undefined ? state : raise(state, to.id);
}

function cascade(state: DesktopState): DesktopState {
  let made: DesktopState = { ...state, windows: [] };
  for (const id of state.order) {
    const win = windowOf(state, id);
    if (win === undefined) continue;
    const rect = cascaded(made, { ...win.rect, x: 16, y: 16 });
    const put = win.minimised ? win : { ...win, maximised: false, rect, within: state.desktop };
    made = { ...made, windows: [...made.windows, put] };
  }
  const byId = new Map(made.windows.map((win) => [win.id, win]));
  return { ...state, windows: state.windows.map((win) => byId.get(win.id) ?? win) };
}

export function reduce(state: DesktopState, action: Action): DesktopState {
  switch (action.do) {
    case 'open':
      return open(state, action.content, action.another ?? false);
    case 'focus':
      return raise(state, action.id);
    case 'minimise':
      return change(state, action.id, { minimised: true });
    case 'maximise':
      return raise(change(state, action.id, { maximised: true }), action.id);
    case 'restore':
      return raise(change(state, action.id, { maximised: false }), action.id);
    case 'close':
      return close(state, action.id);
    case 'put': {
      const win = windowOf(state, action.id);
      const rect = reachableRect(action.rect, state.desktop);
      if (win === undefined || (!win.maximised && sameRect(rect, win.rect))) return state;
      const sized = win.sized || rect.width !== win.rect.width || rect.height !== win.rect.height;
      return change(state, action.id, { rect, within: state.desktop, maximised: false, sized });
    }
    case 'fit': {
      const win = windowOf(state, action.id);
      if (win === undefined || win.sized) return state;
      const at = adjustedRect(win.rect, win.within, state.desktop);
      const most = Math.max(MIN_SIZE.height, state.desktop.height - at.y - 16);
      const rect = { ...at, height: Math.min(Math.max(action.height, MIN_SIZE.height), most) };
      return sameRect(rect, win.rect) ? state : change(state, action.id, { rect, within: state.desktop });
    }
    case 'show':
      return windowOf(state, action.id)?.address === action.address
        ? state
        : change(state, action.id, { address: action.address, key: action.key });
    case 'rename':
      return windowOf(state, action.id)?.title === action.title
        ? state
        : change(state, action.id, { title: action.title });
    case 'desktop':
      return state.desktop.width === action.size.width && state.desktop.height === action.size.height
        ? state
        : { ...state, desktop: action.size };
    case 'next':
      return cycle(state, 1);
    case 'previous':
      return cycle(state, -1);
    case 'cascade':
      return cascade(state);
    case 'minimise-all':
      return { ...state, windows: state.windows.map((win) => ({ ...win, minimised: true })) };
    case 'close-all':
      return state.windows.reduce((now, win) => close(now, win.id), state);
  }
}
