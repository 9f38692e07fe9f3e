/** Keys of a table that stand for commands of its toolbar and its menu. */

/** The part of a keyboard event that matters. */
interface Key {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** The key is held down, and this is not its first press. */
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
 * Name of the command that a key means while the rows have the focus. Only moves go on while a key is held: the others
 * would go through row after row, or open window after window.
 */
export function commandFor(pressed: Key): string | undefined {
  const name = meaningOf(pressed);
  const { repeat = false, altKey } = pressed;
  return repeat && !altKey && name !== undefined ? HELD : name;
}

/** Command of a key that is held down and must not do its command again: none. */
export const HELD = 'held';

function meaningOf({ key, code, ctrlKey, metaKey, altKey }: Key): string | undefined {
  const ctrl = ctrlKey || metaKey;
  if (altKey && !ctrl) return WITH_ALT[key];
  if (ctrl && !altKey) return WITH_CTRL[key.toLowerCase()];
  if (code === 'NumpadAdd') return 'enable';
  if (code === 'NumpadSubtract') return 'disable';
  return { Insert: 'add', Delete: 'remove', Enter: 'open' }[key];
}

/** Name of the command that a key means anywhere in the window of a table. */
export function windowCommandFor({ key, ctrlKey, metaKey, altKey }: Key): string | undefined {
  if (altKey) return undefined;
  if (ctrlKey || metaKey) return { f: 'find', g: 'find-next' }[key.toLowerCase()];
  return { F3: 'find-next', Insert: 'add' }[key];
}

/**
 * Number of the row that a key goes to, which may lie beyond the last one; undefined for keys that go to none. They mean the
 * same on a title of the header: scrolled by itself, a list with rows of several heights would end before its last row.
 * @param step number of the row that is so many rows from the one that the keyboard is on
 * @param page rows of a screen
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
