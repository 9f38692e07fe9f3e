/** Keys of a table that stand for commands of its toolbar. */

/** The part of a keyboard event that matters. */
export interface Key {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Name of the command that a key means. */
export function commandFor({ key, code, ctrlKey, metaKey, altKey }: Key): string | undefined {
  const ctrl = ctrlKey || metaKey;
  if (altKey && !ctrl) return { ArrowUp: 'move-up', ArrowDown: 'move-down' }[key];
  if (ctrl && !altKey) return { e: 'enable', d: 'disable', m: 'comment' }[key.toLowerCase()];
  if (code === 'NumpadAdd') return 'enable';
  if (code === 'NumpadSubtract') return 'disable';
  return { Insert: 'add', Delete: 'remove' }[key];
}
