/** Keys with an effect on the desktop as a whole. Pure. */

interface Key {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

type DesktopCommand = 'close' | 'escape' | 'next' | 'previous' | 'menu';

/**
 * Command of a key; undefined if it has none. Letters are identified by their position on the keyboard, as Alt may
 * change the character.
 */
export function desktopCommand({ key, code, ctrlKey, metaKey, altKey, shiftKey }: Key): DesktopCommand | undefined {
  if (metaKey) return undefined;
  if (altKey) {
    if (ctrlKey || shiftKey) return undefined;
    const byCode = { KeyW: 'close', BracketRight: 'next', BracketLeft: 'previous', Minus: 'menu' } as const;
    return Object.entries(byCode).find(([place]) => place === code)?.[1];
  }
  if (key === 'F4' && !shiftKey) return 'close';
  if (ctrlKey) return undefined;
  if (key === 'F6') return shiftKey ? 'previous' : 'next';
  return key === 'Escape' && !shiftKey ? 'escape' : undefined;
}
