/** Keys of a table for commands of its toolbar and its menu. */

/** The relevant part of a keyboard event. */
interface Key {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** True when the key is held down and this is not its first event. */
  readonly repeat?: boolean;
}

const WITH_CTRL: Readonly<Record<string, string>> = {
  e: 'enable',
  d: 'disable',
  m: 'comment',
  a: 'select-all',
};

const WITH_ALT: Readonly<Record<string, string>> = {
  ArrowUp: 'move-up',
  ArrowDown: 'move-down',
  ArrowRight: 'indent',
  ArrowLeft: 'outdent',
};

/**
 * Name of the command for a key while the rows have the focus. Only moves are repeated while a key is held: other
 * commands would apply to row after row, or open window after window.
 */
export function commandFor(pressed: Key): string | undefined {
  const name = meaningOf(pressed);
  const { repeat = false, altKey } = pressed;
  return repeat && !altKey && name !== undefined ? HELD : name;
}

/** Result for a key that is held down and whose command must not be repeated. */
export const HELD = 'held';

function meaningOf({ key, code, ctrlKey, metaKey, altKey }: Key): string | undefined {
  const ctrl = ctrlKey || metaKey;
  if (altKey && !ctrl) return WITH_ALT[key];
  if (ctrl && !altKey) return WITH_CTRL[key.toLowerCase()];
  if (code === 'NumpadAdd') return 'enable';
  if (code === 'NumpadSubtract') return 'disable';
  return { Insert: 'add', Delete: 'remove', Enter: 'open' }[key];
}

/** Name of the command for a key anywhere in the window of a table. */
export function windowCommandFor({ key, ctrlKey, metaKey, altKey }: Key): string | undefined {
  if (altKey) return undefined;
  if (ctrlKey || metaKey) return { f: 'find', g: 'find-next' }[key.toLowerCase()];
  return { F3: 'find-next', Insert: 'add' }[key];
}

/**
 * Number of the row that a key moves to, which may be beyond the last one; undefined for other keys. The keys have the
 * same effect on a title of the header: if the browser scrolled the list instead, a list with rows of different heights
 * would end before its last row.
 * @param step returns the number of the row at this distance from the row with the keyboard focus
 * @param page number of rows on a screen
 */
export function rowFor(
  { key, ctrlKey, metaKey, altKey }: Omit<Key, 'code'>,
  onTitle: boolean,
  page: number,
  step: (rows: number) => number,
): number | undefined {
  if (altKey || (onTitle && (ctrlKey || metaKey))) return undefined;
  switch (key) {
    case 'ArrowDown':
      return step(1);
    case 'ArrowUp':
      return step(-1);
    case 'PageDown':
      return step(page);
    case 'PageUp':
      return step(-page);
    case 'Home':
      return 0;
    case 'End':
      return Number.MAX_SAFE_INTEGER;
    default:
      return undefined;
  }
}
