/** Label of the button of a window. Pure. */
import type { DesktopWindow } from './reducer.ts';

interface TaskLabel {
  /** The whole title, and a number where others have the same. */
  readonly name: string;
  /** Kind of thing that the window shows, or all of its title. */
  readonly kind: string;
  /**
   * Name of the item that it shows; empty for a list. It stands first, in two parts of which the first is cut: where
   * room is short, windows differ by it, and often by its end.
   */
  readonly item: readonly [string, string];
  /** Tells windows with the same title apart: 2 for the second one. */
  readonly number: number | undefined;
}

/** Letters at the end of a longer name that are not cut. */
const TAIL = 4;
/** Longest name that needs no cut. */
const SHORT = 9;

function parted(name: string): TaskLabel['item'] {
  const letters = [...name];
  const cut = letters.length > SHORT ? letters.length - TAIL : letters.length;
  return [letters.slice(0, cut).join(''), letters.slice(cut).join('')];
}

/** Labels of windows, in their order. */
export function taskLabels(windows: readonly Pick<DesktopWindow, 'title'>[]): readonly TaskLabel[] {
  const seen = new Map<string, number>();
  return windows.map(({ title }) => {
    const count = (seen.get(title) ?? 0) + 1;
    seen.set(title, count);
    const parts = /^(.+) <(.*)>$/.exec(title);
    return {
      name: count > 1 ? `${title} (${count})` : title,
      kind: parts?.[1] ?? title,
      item: parted(parts?.[2] ?? ''),
      number: count > 1 ? count : undefined,
    };
  });
}
