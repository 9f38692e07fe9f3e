/** Escape in a window: what is inside may have something to give up first, before the window closes. */
import { type RefObject, useEffect, useRef } from 'react';

const ESCAPE = 'window-escape';

/** Asks what is inside of a window; true when it had a use for the key. */
export const takesEscape = (window: Element): boolean =>
  !window.dispatchEvent(new CustomEvent(ESCAPE, { cancelable: true }));

/**
 * Takes Escape from the window around an element while `active`. It comes last: after open menus, lists of choices and
 * texts that are being typed.
 * @param take returns whether there was something to give up
 */
export function useEscape(inside: RefObject<HTMLElement | null>, active: boolean, take: () => boolean): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const owner = inside.current?.closest('[data-window]');
    if (!active || owner === null || owner === undefined) return;
    const ask = (event: Event) => {
      if (!event.defaultPrevented && latest.current()) event.preventDefault();
    };
    owner.addEventListener(ESCAPE, ask);
    return () => owner.removeEventListener(ESCAPE, ask);
  }, [inside, active]);
}
