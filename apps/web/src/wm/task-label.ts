/** Label of the taskbar button of a window. Pure. */
import type { DesktopWindow } from './reducer.ts';

interface TaskLabel {
  /** The whole title, with a number if other windows have the same title. */
  readonly name: string;
  /** Kind of content of the window, or its whole title. */
  readonly kind: string;
  /**
   * Name of the item in the window; empty for a list. It is shown first, in two parts of which only the first may be
   * cut off: if space is short, windows differ by this name, and often by its end.
   */
  readonly item: readonly [string, string];
  /** Distinguishes windows with the same title: 2 for the second one. */
  readonly number: number | undefined;
}

/** Number of characters at the end of a long name that are never cut off. */
const TAIL = 4;
/** Maximum length of a name that is never cut off, characters. */
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
