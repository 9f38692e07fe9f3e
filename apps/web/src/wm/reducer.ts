/**
 * The windows of the desk and what can happen to them. Pure: knows neither the DOM nor what the windows show, whose
 * `content` is an address that the owner of the desk understands.
 */
import { MIN_SIZE, type Rect, reachable, type Size, sameRect, settled, whole } from './geometry.ts';

/** What a new window shows. */
export interface Content {
  readonly address: string;
  /** Windows with the same key show the same thing; a second one is opened only on demand. */
  readonly key: string;
  /** Windows of one kind share this name: where the last one was, the next one opens. */
  readonly place: string;
  readonly role: 'region' | 'dialog';
  readonly title: string;
  /** Size of the first window of this kind. */
  readonly size: Size;
}

export interface DeskWindow {
  /** Names the window for its whole life. */
  readonly id: string;
  readonly address: string;
  readonly key: string;
  readonly place: string;
  readonly role: Content['role'];
  readonly title: string;
  /** Where it was put when the desk had the size `within`; {@link shownRect} tells where it is. */
  readonly rect: Rect;
  readonly within: Size;
  readonly maximised: boolean;
  readonly minimised: boolean;
  /** Somebody chose its size; others are made as high as their content. */
  readonly sized: boolean;
}

/** Where a closed window was. */
export interface Place {
  readonly rect: Rect;
  readonly within: Size;
  readonly maximised: boolean;
  readonly sized: boolean;
}

export interface DeskState {
  readonly desk: Size;
  /** In the order in which they were opened. */
  readonly windows: readonly DeskWindow[];
  /** Ids of all windows, the lowest first. */
  readonly order: readonly string[];
  /** By {@link Content.place}, the one that was used longest ago first. */
  readonly places: Readonly<Record<string, Place>>;
  readonly nextId: number;
}

export type Action =
  | { readonly do: 'open'; readonly content: Content; readonly another?: boolean }
  | { readonly do: 'focus' | 'minimise' | 'maximise' | 'restore' | 'close'; readonly id: string }
  | { readonly do: 'put'; readonly id: string; readonly rect: Rect }
  /** Gives a window the height of its content, unless somebody chose another. */
  | { readonly do: 'fit'; readonly id: string; readonly height: number }
  | { readonly do: 'show'; readonly id: string; readonly address: string; readonly key: string }
  | { readonly do: 'rename'; readonly id: string; readonly title: string }
  | { readonly do: 'desk'; readonly size: Size }
  | { readonly do: 'next' | 'previous' | 'cascade' | 'minimise-all' | 'close-all' };

/** Distance from one cascading window to the next, px. */
const CASCADE_PX = 28;

/** So many places of closed windows are remembered. */
export const MAX_PLACES = 80;

export const emptyDesk: DeskState = {
  desk: { width: 1200, height: 700 },
  windows: [],
  order: [],
  places: {},
  nextId: 1,
};

export function windowOf(state: DeskState, id: string): DeskWindow | undefined {
  return state.windows.find((win) => win.id === id);
}

/** The window that takes the keys: the highest that is not minimised. */
export function activeId(state: DeskState): string | undefined {
  return state.order.findLast((id) => windowOf(state, id)?.minimised === false);
}

/** Where a window is on the desk now. */
export function shownRect(win: DeskWindow, desk: Size): Rect {
  return win.maximised ? { x: 0, y: 0, ...desk } : settled(win.rect, win.within, desk);
}

function change(state: DeskState, id: string, part: Partial<DeskWindow>): DeskState {
  return { ...state, windows: state.windows.map((win) => (win.id === id ? { ...win, ...part } : win)) };
}

function raise(state: DeskState, id: string): DeskState {
  const win = windowOf(state, id);
  if (win === undefined || (!win.minimised && state.order.at(-1) === id)) return state;
  const order = [...state.order.filter((other) => other !== id), id];
  return { ...(win.minimised ? change(state, id, { minimised: false }) : state), order };
}

/** A free place in the cascade that starts at `from`. */
function cascaded(state: DeskState, from: Rect): Rect {
  const taken = new Set(
    state.windows
      .filter((win) => !win.minimised && !win.maximised)
      .map((win) => shownRect(win, state.desk))
      .map(({ x, y }) => `${x} ${y}`),
  );
  const columns = Math.max(1, Math.floor((state.desk.width - from.x - from.width) / CASCADE_PX) + 1);
  const rows = Math.max(1, Math.floor((state.desk.height - from.y - from.height) / CASCADE_PX) + 1);
  const most = Math.max(columns, rows, state.windows.length + 1);
  for (let step = 0; step < most; step++) {
    const rect = reachable(
      { ...from, x: from.x + (step % columns) * CASCADE_PX, y: from.y + (step % rows) * CASCADE_PX },
      state.desk,
    );
    if (!taken.has(`${rect.x} ${rect.y}`)) return rect;
  }
  return reachable(from, state.desk);
}

function firstRect({ desk }: DeskState, size: Size): Rect {
  const margin = 16;
  const width = Math.max(MIN_SIZE.width, Math.min(size.width, desk.width - 2 * margin));
  const height = Math.max(MIN_SIZE.height, Math.min(size.height, desk.height - 2 * margin));
  return reachable({ x: margin, y: margin, width, height }, desk);
}

function open(state: DeskState, content: Content, another: boolean): DeskState {
  const here = state.order.findLast((id) => windowOf(state, id)?.key === content.key);
  if (here !== undefined && !another) return raise(change(state, here, { address: content.address }), here);
  const known = state.places[content.place];
  const first = firstRect(state, content.size);
  // What hung over an edge when it was closed is opened to be worked with.
  const last = known === undefined ? first : whole(settled(known.rect, known.within, state.desk), state.desk);
  const from =
    known?.sized === false ? reachable({ ...last, width: first.width, height: first.height }, state.desk) : last;
  const { size, ...shown } = content;
  const win: DeskWindow = {
    ...shown,
    id: `w${state.nextId}`,
    rect: cascaded(state, from),
    within: state.desk,
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

function remember(places: DeskState['places'], win: DeskWindow): DeskState['places'] {
  const { [win.place]: _, ...rest } = places;
  const { rect, within, maximised, sized } = win;
  const kept = Object.entries(rest).slice(-(MAX_PLACES - 1));
  return { ...Object.fromEntries(kept), [win.place]: { rect, within, maximised, sized } };
}

function close(state: DeskState, id: string): DeskState {
  const win = windowOf(state, id);
  if (win === undefined) return state;
  return {
    ...state,
    windows: state.windows.filter((other) => other.id !== id),
    order: state.order.filter((other) => other !== id),
    places: remember(state.places, win),
  };
}

/** The window that was opened after (1) or before (-1) the active one; minimised ones only when all are. */
function cycle(state: DeskState, by: 1 | -1): DeskState {
  const awake = state.windows.filter((win) => !win.minimised);
  const among = awake.length > 0 ? awake : state.windows;
  const active = activeId(state);
  const at = among.findIndex((win) => win.id === active);
  const to = among[at < 0 ? 0 : (at + by + among.length) % among.length];
  return to === undefined ? state : raise(state, to.id);
}

function cascade(state: DeskState): DeskState {
  let made: DeskState = { ...state, windows: [] };
  for (const id of state.order) {
    const win = windowOf(state, id);
    if (win === undefined) continue;
    const rect = cascaded(made, { ...win.rect, x: 16, y: 16 });
    const put = win.minimised ? win : { ...win, maximised: false, rect, within: state.desk };
    made = { ...made, windows: [...made.windows, put] };
  }
  const byId = new Map(made.windows.map((win) => [win.id, win]));
  return { ...state, windows: state.windows.map((win) => byId.get(win.id) ?? win) };
}

export function reduce(state: DeskState, action: Action): DeskState {
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
      const rect = reachable(action.rect, state.desk);
      if (win === undefined || (!win.maximised && sameRect(rect, win.rect))) return state;
      const sized = win.sized || rect.width !== win.rect.width || rect.height !== win.rect.height;
      return change(state, action.id, { rect, within: state.desk, maximised: false, sized });
    }
    case 'fit': {
      const win = windowOf(state, action.id);
      if (win === undefined || win.sized) return state;
      const at = settled(win.rect, win.within, state.desk);
      const most = Math.max(MIN_SIZE.height, state.desk.height - at.y - 16);
      const rect = { ...at, height: Math.min(Math.max(action.height, MIN_SIZE.height), most) };
      return sameRect(rect, win.rect) ? state : change(state, action.id, { rect, within: state.desk });
    }
    case 'show':
      return windowOf(state, action.id)?.address === action.address
        ? state
        : change(state, action.id, { address: action.address, key: action.key });
    case 'rename':
      return windowOf(state, action.id)?.title === action.title
        ? state
        : change(state, action.id, { title: action.title });
    case 'desk':
      return state.desk.width === action.size.width && state.desk.height === action.size.height
        ? state
        : { ...state, desk: action.size };
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
