/** The keyboard goes to what cannot be seen, too: into the part of a window that hangs over an edge of the desktop. */
import { type RefObject, useEffect } from 'react';
import { act, useDesktop } from './desktop-state.ts';
import { isInSight, sameRect, wholeRect } from './geometry.ts';
import { shownRect, windowOf } from './reducer.ts';

/** Kind of the last input. A window that moved under the pointer as it is pressed would be missed. */
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

/** Moves a window onto the desktop when something in it that is out of sight gets the focus by key. */
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
      // What is too large for its window is not seen better elsewhere.
      if (!sameRect(moved, rect)) act({ do: 'put', id, rect: moved });
    };
    const note = () => {
      if (last !== 'keys') return;
      cancelAnimationFrame(frame);
      // After the browser has scrolled to it inside of the window.
      frame = requestAnimationFrame(look);
    };
    element.addEventListener('focusin', note);
    return () => {
      element.removeEventListener('focusin', note);
      cancelAnimationFrame(frame);
    };
  }, [root, id, page]);
}
