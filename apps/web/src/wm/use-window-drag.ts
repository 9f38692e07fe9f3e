/**
 * Moving and resizing a window with mouse, pen or finger. During the drag, positions are written directly into the
 * element's style; the state of the desktop is updated once, at the end.
 */
import { type PointerEvent as Press, type RefObject, useCallback } from 'react';
import { act, useDesktop, useGrabbed } from './desktop-state.ts';
import { type Edges, type Rect, reachableRect, resizedRect, type Size, sameRect } from './geometry.ts';
import { shownRect, windowOf } from './reducer.ts';
import { snapLines, snapMove, snapResize } from './snap.ts';

/** Distance that the pointer moves before a press becomes a drag, px. */
const DRAG_PX = 3;

/** Positions an element without React. */
function place(element: HTMLElement, rect: Rect): void {
  element.style.transform = `translate(${rect.x}px, ${rect.y}px)`;
  element.style.width = `${rect.width}px`;
  element.style.height = `${rect.height}px`;
}

type Lines = ReturnType<typeof snapLines>;

function aim(from: Rect, edges: Edges | undefined, dx: number, dy: number, lines: Lines, desktop: Size): Rect {
  if (edges === undefined) return reachableRect(snapMove({ ...from, x: from.x + dx, y: from.y + dy }, lines), desktop);
  const raw = resizedRect(from, edges, dx, dy);
  const snap = snapResize(raw, edges, lines);
  return resizedRect(from, edges, dx + snap.dx, dy + snap.dy);
}

const FREE: Lines = { x: [], y: [] };

/** Handler for a press on the title (without edges) or on an edge. Alt disables snapping, Escape cancels the drag. */
export function useWindowDrag(element: RefObject<HTMLElement | null>, id: string) {
  return useCallback(
    (press: Press<HTMLElement>, edges?: Edges) => {
      const state = useDesktop.getState();
      const win = windowOf(state, id);
      const target = element.current;
      if (press.button !== 0 || !press.isPrimary || win === undefined || win.maximised || target === null) return;
      const { desktop } = state;
      const handle = press.currentTarget;
      const from = shownRect(win, desktop);
      const others = state.windows.filter((other) => other.id !== id && !other.minimised && !other.maximised);
      const lines = snapLines(
        desktop,
        others.map((other) => shownRect(other, desktop)),
      );
      let rect = from;
      let moved = false;

      const move = (event: PointerEvent) => {
        if (event.pointerId !== press.pointerId) return;
        const dx = event.clientX - press.clientX;
        const dy = event.clientY - press.clientY;
        if (!moved) {
          if (Math.abs(dx) < DRAG_PX && Math.abs(dy) < DRAG_PX) return;
          moved = true;
          useGrabbed.setState({ id });
        }
        rect = aim(from, edges, dx, dy, event.altKey ? FREE : lines, desktop);
        place(target, rect);
      };
      const finish = (kept: boolean) => {
        window.removeEventListener('keydown', giveUp, true);
        window.removeEventListener('dragstart', keep, true);
        handle.removeEventListener('pointermove', move);
        handle.removeEventListener('pointerup', up);
        handle.removeEventListener('pointercancel', lost);
        if (!moved) return;
        useGrabbed.setState({ id: undefined });
        // The desktop may adjust the final position, or leave it unchanged.
        if (kept && !sameRect(rect, from)) act({ do: 'put', id, rect });
        const now = windowOf(useDesktop.getState(), id);
        if (now !== undefined) place(target, shownRect(now, useDesktop.getState().desktop));
      };
      const up = (event: PointerEvent) => event.pointerId === press.pointerId && finish(true);
      const lost = (event: PointerEvent) => event.pointerId === press.pointerId && finish(false);
      const giveUp = (event: KeyboardEvent) => {
        if (event.key !== 'Escape' || !moved) return;
        event.preventDefault();
        event.stopPropagation();
        finish(false);
      };
      // The browser would drag a link under the position of the press after the window has moved away from it.
      const keep = (event: DragEvent) => event.preventDefault();
      handle.setPointerCapture(press.pointerId);
      handle.addEventListener('pointermove', move);
      handle.addEventListener('pointerup', up);
      handle.addEventListener('pointercancel', lost);
      window.addEventListener('keydown', giveUp, true);
      window.addEventListener('dragstart', keep, true);
    },
    [element, id],
  );
}
