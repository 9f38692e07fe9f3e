/** The state of the desktop as JSON, restored after a reload. Invalid entries are omitted. Pure. */
import type { Rect, Size } from './geometry.ts';
import {
  type DesktopState,
  type DesktopWindow,
  emptyDesktop,
  MAX_PLACEMENTS,
  type WindowPlacement,
} from './reducer.ts';

const VERSION = 1;

/** Maximum number of windows that are stored. */
const MAX_WINDOWS = 60;

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toSize(value: unknown): Size | undefined {
  if (!isFields(value)) return undefined;
  const { width, height } = value;
  if (typeof width !== 'number' || typeof height !== 'number') return undefined;
  return width >= 0 && height >= 0 && width < 1e5 && height < 1e5 ? { width, height } : undefined;
}

function toRect(value: unknown): Rect | undefined {
  const size = toSize(value);
  if (size === undefined || !isFields(value)) return undefined;
  const { x, y } = value;
  if (typeof x !== 'number' || typeof y !== 'number') return undefined;
  return Math.abs(x) < 1e5 && Math.abs(y) < 1e5 ? { x, y, ...size } : undefined;
}

function toPlacement(value: unknown): WindowPlacement | undefined {
  if (!isFields(value)) return undefined;
  const rect = toRect(value.rect);
  const within = toSize(value.within);
  if (rect === undefined || within === undefined) return undefined;
  return { rect, within, maximised: value.maximised === true, sized: value.sized === true };
}

function toWin(value: unknown): DesktopWindow | undefined {
  const placement = toPlacement(value);
  if (placement === undefined || !isFields(value)) return undefined;
  const { id, address, key, place: name, title, role, minimised } = value;
  if (typeof id !== 'string' || typeof address !== 'string' || typeof key !== 'string') return undefined;
  if (typeof name !== 'string' || typeof title !== 'string') return undefined;
  if (role !== 'region' && role !== 'dialog') return undefined;
  return { ...placement, id, address, key, place: name, title, role, minimised: minimised === true };
}

/** Serialises the windows for which `keep` returns true. */
export function serialise(state: DesktopState, keep: (win: DesktopWindow) => boolean): string {
  const windows = state.windows.filter(keep).slice(-MAX_WINDOWS);
  const kept = new Set(windows.map((win) => win.id));
  const order = state.order.filter((id) => kept.has(id));
  return JSON.stringify({ version: VERSION, windows, order, places: state.placements });
}

/**
 * Parses the result of {@link serialise}; undefined for an absent or invalid text, or one of another version.
 *
 * @param keep returns whether a window is still useful, e.g. whether its content exists
 */
export function deserialise(text: string | null, keep: (win: DesktopWindow) => boolean): DesktopState | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  if (!isFields(raw) || raw.version !== VERSION || !Array.isArray(raw.windows)) return undefined;
  // Windows get new ids, as the text may contain any.
  const names = new Map<string, string>();
  const windows: DesktopWindow[] = [];
  for (const each of raw.windows.slice(-MAX_WINDOWS)) {
    const win = toWin(each);
    if (win === undefined || names.has(win.id) || !keep(win)) continue;
    const id = `w${windows.length + 1}`;
    names.set(win.id, id);
    windows.push({ ...win, id });
  }
  const wanted: unknown[] = Array.isArray(raw.order) ? raw.order : [];
  const ranked = wanted
    .map((id) => (typeof id === 'string' ? names.get(id) : undefined))
    .filter((id) => id !== undefined);
  const order = [...new Set([...windows.map((win) => win.id).filter((id) => !ranked.includes(id)), ...ranked])];
  const placements = Object.entries(isFields(raw.places) ? raw.places : {})
    .map(([name, value]) => [name, toPlacement(value)] as const)
    .filter((entry): entry is readonly [string, WindowPlacement] => entry[1] !== undefined)
    .slice(-MAX_PLACEMENTS);
  return { ...emptyDesktop, windows, order, placements: Object.fromEntries(placements), nextId: windows.length + 1 };
}
