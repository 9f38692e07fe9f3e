/** Moves windows that extend beyond the desktop when the keyboard focus moves to an element out of view. */
import { type RefObject, useEffect } from 'react';
import { act, useDesktop } from './desktop-state.ts';
import { isInSight, sameRect, wholeRect } from './geometry.ts';
import { shownRect, windowOf } from './reducer.ts';

/** Kind of the last input: a window must not move while the pointer presses on it. */
let last: 'keys' | 'pointer' = 'pointer';
window.addEventListener(
  'keydown',
  () => {
    last = 'keys';
  },
  true,
);
window.addEventListener(
  'pointerdown',
  () => {
    last = 'pointer';
  },
  true,
);

/** Moves a window onto the desktop when an element in it that is out of view gets the focus by key. */
export function useReveal(root: RefObject<HTMLElement | null>, id: string, page: boolean): void {
  useEffect(() => {
    const element = root.current;
    if (element === null || page) return;
    let frame = 0;
    const look = () => {
      const { activeElement: focused } = document;
      const desktop = element.parentElement?.getBoundingClientRect();
      const state = useDesktop.getState();
      const win = windowOf(state, id);
      if (focused === null || focused === element || !element.contains(focused)) return;
      if (desktop === undefined || win === undefined || win.maximised) return;
      const { left, top, width, height } = focused.getBoundingClientRect();
      if (isInSight({ x: left - desktop.left, y: top - desktop.top, width, height }, state.desktop)) return;
      const rect = shownRect(win, state.desktop);
      const moved = wholeRect(rect, state.desktop);
      // If an element is too large for its window, moving the window does not help.
      if (!sameRect(moved, rect)) act({ do: 'put', id, rect: moved });
    };
    const note = () => {
      if (last !== 'keys') return;
      cancelAnimationFrame(frame);
      // After the browser has scrolled the element into view inside the window.
      frame = requestAnimationFrame(look);
    };
    element.addEventListener('focusin', note);
    return () => {
      element.removeEventListener('focusin', note);
      cancelAnimationFrame(frame);
    };
  }, [root, id, page]);
}
