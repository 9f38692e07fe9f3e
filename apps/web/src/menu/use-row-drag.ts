/**
 * Dragging of table rows by mouse or pen. A mark shows the target position; the list scrolls when the pointer is at its
 * edge.
 */
import { type PointerEvent, type RefObject, useEffect, useRef } from 'react';
import type { Row } from '../api/row.ts';
import type { GridView } from './grid-view.ts';
import { dropAt, type Move } from './row-moves.ts';
import { type Drop, dropOf } from './tree.ts';

/** Distance that the pointer moves before a press becomes a drag, px. */
const DRAG_PX = 5;
/**
 * Maximum distance of the pointer above or below the list, px; within it the list scrolls fast, beyond it a drop has no
 * effect.
 */
const AROUND_PX = 48;
/** Height of the line that marks a gap between rows, px. */
const LINE_PX = 3;

/** Whether the pointer has left the list during a drag: a drop outside moves nothing. */
export function hasLeft(list: Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>, x: number, y: number): boolean {
  return x < list.left || x > list.right || y < list.top - AROUND_PX || y > list.bottom + AROUND_PX;
}

interface Drag {
  /** Rows to move, in their order. */
  readonly ids: readonly string[];
  readonly y: number;
  /** Reason why the rows cannot be moved now; shown during the drag. */
  readonly why: string | undefined;
  active: boolean;
  gap: number;
  drop: Drop | undefined;
}

/** State and actions of a drag in a tree. */
interface TreeDrag {
  /** Whether the order of siblings matters. */
  readonly ordered: boolean;
  readonly row: (id: string) => Row | undefined;
  readonly onDrop: (ids: readonly string[], drop: Drop) => void;
}

interface Options {
  readonly view: RefObject<GridView | undefined>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly line: RefObject<HTMLDivElement | null>;
  /** Number of rows at the start of the list that cannot be moved. */
  readonly fixed: () => number;
  readonly onMove: (move: Move) => void;
  /** Called when rows were dropped that cannot be moved now. */
  readonly onRefused: (why: string) => void;
  /** The tree, if the rows are shown as one. */
  readonly tree: () => TreeDrag | undefined;
}

export function useRowDrag({ view, scroller, line, fixed, onMove, onRefused, tree }: Options) {
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

  /** Draws the mark: a line, a box around a row, or a box with the reason of a refusal. */
  function mark(kind: 'line' | 'box' | 'refusal', y: number, height: number, text = '') {
    const element = line.current;
    if (element === null) return;
    element.hidden = false;
    element.dataset.kind = kind;
    // As wide as the visible part of a table that scrolls sideways.
    element.style.insetInlineStart = `${scroller.current?.scrollLeft ?? 0}px`;
    element.style.inlineSize = `${scroller.current?.clientWidth ?? 0}px`;
    element.style.blockSize = `${height}px`;
    element.style.transform = `translateY(${y}px)`;
    if (element.textContent !== text) element.textContent = text;
  }

  function aimOutside(moving: Drag) {
    moving.gap = -1;
    moving.drop = undefined;
    if (line.current !== null) line.current.hidden = true;
  }

  function aimAtNothing(grid: GridView, clientY: number, why: string) {
    const { y, height } = grid.viewport.rowAtPoint(clientY);
    mark('refusal', y, height, why);
  }

  function aimInList(grid: GridView, moving: Drag, clientY: number) {
    const { gap, y } = grid.viewport.gapAt(clientY, fixed());
    moving.gap = gap;
    mark('line', y, LINE_PX);
  }

  function aimInTree(grid: GridView, moving: Drag, clientY: number, { ordered, row }: TreeDrag) {
    const rowsOf = (ids: readonly string[]) => ids.map((id) => row(id)).filter((each) => each !== undefined);
    const { index, share, y, height } = grid.viewport.rowAtPoint(clientY);
    const at = index === undefined ? undefined : index - grid.firstLoaded;
    // For rows that are not loaded, only their ids are known.
    const moved = moving.ids.map((id) => row(id) ?? { '.id': id });
    const drop = dropOf(rowsOf(grid.order()), moved, at, share, {
      matters: ordered,
      ended: grid.endLoaded,
    });
    moving.drop = drop;
    if (drop.kind === 'move') mark('line', drop.index === at ? y : y + height, LINE_PX);
    else if (drop.kind === 'root') mark('line', y, LINE_PX);
    else if (drop.kind === 'below') mark('box', y, height);
    else if (drop.why !== '') mark('refusal', y, height, drop.why);
    else if (line.current !== null) line.current.hidden = true;
  }

  return {
    /** Begins a possible drag; `why`: reason why the rows cannot be moved, shown during the drag. */
    press(event: PointerEvent, ids: readonly string[], why?: string) {
      drag.current = { ids, y: event.clientY, why, active: false, gap: -1, drop: undefined };
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
      const { clientX, clientY } = event;
      cancelAnimationFrame(scrolling.current);
      const list = scroller.current?.getBoundingClientRect();
      if (moving.why === undefined && list !== undefined && hasLeft(list, clientX, clientY)) {
        aimOutside(moving);
        return;
      }
      const aim = () => {
        if (drag.current !== moving || line.current === null) return;
        const inTree = tree();
        if (moving.why !== undefined) aimAtNothing(grid, clientY, moving.why);
        else if (inTree === undefined) aimInList(grid, moving, clientY);
        else aimInTree(grid, moving, clientY, inTree);
        // Near an edge the list keeps scrolling, even if the pointer does not move.
        if (grid.viewport.scrollTowards(clientY)) scrolling.current = requestAnimationFrame(aim);
      };
      aim();
    },
    /** Ends a drag; true when there was one, so that the release is not treated as a click. */
    release(): boolean {
      const moving = end();
      const grid = view.current;
      if (moving?.active !== true || grid === undefined) return false;
      if (moving.why !== undefined) {
        onRefused(moving.why);
        return true;
      }
      if (moving.drop !== undefined) tree()?.onDrop(moving.ids, moving.drop);
      const move = moving.gap < 0 ? undefined : dropAt(grid.order(), moving.ids, moving.gap - grid.firstLoaded);
      if (move !== undefined) onMove(move);
      return true;
    },
    /** Cancels a drag; true when there was one. */
    cancel: (): boolean => end()?.active === true,
  };
}
