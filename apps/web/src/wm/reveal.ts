/** The keyboard goes to what cannot be seen, too: into the part of a window that hangs over an edge of the desk. */
import { type RefObject, useEffect } from 'react';
import { act, useDesk } from './desk-state.ts';
import { isInSight, sameRect, whole } from './geometry.ts';
import { shownRect, windowOf } from './reducer.ts';

/** What was touched last. A window that moved under the pointer as it is pressed would be missed. */
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

/** Moves a window onto the desk when something in it that is out of sight gets the focus by key. */
export function useReveal(root: RefObject<HTMLElement | null>, id: string, page: boolean): void {
  useEffect(() => {
    const element = root.current;
    if (element === null || page) return;
    let frame = 0;
    const look = () => {
      const { activeElement: focused } = document;
      const desk = element.parentElement?.getBoundingClientRect();
      const state = useDesk.getState();
      const win = windowOf(state, id);
      if (focused === null || focused === element || !element.contains(focused)) return;
      if (desk === undefined || win === undefined || win.maximised) return;
      const { left, top, width, height } = focused.getBoundingClientRect();
      if (isInSight({ x: left - desk.left, y: top - desk.top, width, height }, state.desk)) return;
      const rect = shownRect(win, state.desk);
      const moved = whole(rect, state.desk);
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
