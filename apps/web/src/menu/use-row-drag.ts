/** Rows of an ordered list, dragged by mouse or pen. A line shows where they would go; the list comes to the pointer. */
import { type PointerEvent, type RefObject, useEffect, useRef } from 'react';
import type { GridView } from './grid-view.ts';
import { dropAt, type Move } from './moving.ts';

/** Pixels that the pointer moves before a press becomes a drag. */
const DRAG_PX = 5;

interface Drag {
  /** Rows that move, in their order. */
  readonly ids: readonly string[];
  readonly y: number;
  active: boolean;
  gap: number;
}

interface Options {
  readonly view: RefObject<GridView | undefined>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly line: RefObject<HTMLDivElement | null>;
  /** Rows at the start of the list that stay there. */
  readonly fixed: () => number;
  readonly onMove: (move: Move) => void;
}

export function useRowDrag({ view, scroller, line, fixed, onMove }: Options) {
  const drag = useRef<Drag>(undefined);
  const scrolling = useRef(0);
  useEffect(() => () => cancelAnimationFrame(scrolling.current), []);

  function end(): Drag | undefined {
    const moving = drag.current;
    drag.current = undefined;
    cancelAnimationFrame(scrolling.current);
    scroller.current?.classList.remove('grid-dragging');
    if (line.current !== null) line.current.hidden = true;
    return moving;
  }

  return {
    /** A press on rows that may be dragged. */
    press(event: PointerEvent, ids: readonly string[]) {
      drag.current = { ids, y: event.clientY, active: false, gap: -1 };
    },
    move(event: PointerEvent) {
      const moving = drag.current;
      const grid = view.current;
      if (moving === undefined || grid === undefined) return;
      if (!moving.active) {
        if (Math.abs(event.clientY - moving.y) < DRAG_PX) return;
        moving.active = true;
        scroller.current?.setPointerCapture(event.pointerId);
        scroller.current?.classList.add('grid-dragging');
      }
      const { clientY } = event;
      cancelAnimationFrame(scrolling.current);
      const aim = () => {
        if (drag.current !== moving || line.current === null) return;
        const { gap, y } = grid.gapAt(clientY, fixed());
        moving.gap = gap;
        line.current.hidden = false;
        line.current.style.transform = `translateY(${y}px)`;
        // Near an edge the list comes to the pointer, also while it stands still.
        if (grid.scrollTowards(clientY)) scrolling.current = requestAnimationFrame(aim);
      };
      aim();
    },
    /** Ends a drag; true when there was one, so that the release is no click. */
    release(): boolean {
      const moving = end();
      const grid = view.current;
      if (moving?.active !== true || grid === undefined) return false;
      const move = moving.gap < 0 ? undefined : dropAt(grid.order(), moving.ids, moving.gap - grid.firstLoaded);
      if (move !== undefined) onMove(move);
      return true;
    },
    /** Drops nothing; true when there was a drag. */
    cancel: (): boolean => end()?.active === true,
  };
}
