/** Escape in a window: an element inside may cancel something first, before the window closes. */
import { type RefObject, useEffect, useRef } from 'react';

const ESCAPE = 'window-escape';

/** Offers Escape to the content of a window; true when an element has handled it. */
export const takesEscape = (window: Element): boolean =>
  !window.dispatchEvent(new CustomEvent(ESCAPE, { cancelable: true }));

/**
 * Handles Escape in the window around an element while `active`, after open menus, lists of choices and edited texts.
 * @param take cancels something; returns whether there was something to cancel
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
