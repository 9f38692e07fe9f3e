/**
 * The table itself: header by React, rows by the painter. Knows the window of rows that the screen needs and asks the
 * live feed for it. Keyboard, pointer and drag end in calls to the owner.
 */
import { type Menu, menuColumn } from '@tollway/schema';
import { type KeyboardEvent, type PointerEvent, useCallback, useEffect, useId, useLayoutEffect, useRef } from 'react';
import type { LiveMenu } from '../api/live-menu.ts';
import type { Column } from './columns.ts';
import { GridHeader } from './GridHeader.tsx';
import { GridView } from './grid-view.ts';
import { dropAt, type Move } from './moving.ts';
import { extendTo, only, type Selection, toggle } from './selection.ts';

export interface GridProps {
  readonly menu: Menu;
  readonly live: LiveMenu;
  readonly columns: readonly Column[];
  readonly selection: Selection;
  /** Follows the end of the list while it is in view. */
  readonly tail: boolean;
  readonly density: string;
  readonly onSelect: (selection: Selection) => void;
  readonly onSelectAll: () => void;
  readonly onOpen: (id: string) => void;
  readonly onMove: (move: Move) => void;
  readonly onSort: (column: string) => void;
  /** A width that the user set. */
  readonly onWidth: (column: string, width: number | undefined) => void;
  /** Widths that fit the content. */
  readonly onFitted: (widths: readonly (readonly [string, number])[]) => void;
  /** Keys that mean a command of the toolbar; returns true when it took one. */
  readonly onCommandKey: (event: KeyboardEvent) => boolean;
}

/** Pixels that the pointer moves before a press becomes a drag. */
const DRAG_PX = 5;

export function Grid(props: GridProps) {
  const { menu, live, columns, selection, tail, density } = props;
  const gridId = useId().replaceAll(':', '');
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const pane = useRef<HTMLDivElement>(null);
  const dropLine = useRef<HTMLDivElement>(null);
  const view = useRef<GridView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const drag = useRef<{ id: string; y: number; active: boolean; gap: number }>(undefined);
  const scrolling = useRef(0);
  useEffect(() => () => cancelAnimationFrame(scrolling.current), []);

  useLayoutEffect(() => {
    if (scroller.current === null || body.current === null || pane.current === null) return;
    const made = new GridView({
      scroller: scroller.current,
      body: body.current,
      pane: pane.current,
      menu,
      live,
      gridId,
      tail,
      measured: (widths) => latest.current.onFitted(widths),
    });
    view.current = made;
    return () => {
      made.dispose();
      view.current = undefined;
    };
  }, [menu, live, gridId, tail]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of density changes the height of rows
  useLayoutEffect(() => {
    view.current?.show(columns, selection);
  }, [columns, selection, density, menu, live]);

  const moveFocus = useCallback((to: number, extend: boolean) => {
    const grid = view.current;
    if (grid === undefined) return;
    grid.focusRow(to, (id) => {
      const { selection: now, onSelect } = latest.current;
      onSelect(extend ? extendTo(now, grid.order(), id) : only(id));
    });
  }, []);

  function onKeyDown(event: KeyboardEvent) {
    const grid = view.current;
    // The header has keys of its own.
    if (grid === undefined || event.target !== event.currentTarget || latest.current.onCommandKey(event)) return;
    const at = grid.focusIndex(selection.focus);
    const page = Math.max(grid.rowsInView - 1, 1);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: Math.max(at - 1, 0),
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: Number.MAX_SAFE_INTEGER,
    }[event.key];
    if (to !== undefined && !event.altKey) {
      event.preventDefault();
      moveFocus(to, event.shiftKey);
    } else if (event.key === 'Enter' && selection.focus !== undefined) {
      event.preventDefault();
      props.onOpen(selection.focus);
    } else if (event.key === ' ' && selection.focus !== undefined) {
      event.preventDefault();
      props.onSelect(toggle(selection, selection.focus));
    } else if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      props.onSelectAll();
    }
  }

  function onPointerDown(event: PointerEvent) {
    const id = rowIdAt(event.target);
    if (id === undefined || event.button !== 0) return;
    const order = view.current?.order() ?? [];
    if (event.shiftKey) {
      event.preventDefault();
      props.onSelect(extendTo(selection, order, id, event.ctrlKey || event.metaKey));
    } else if (event.ctrlKey || event.metaKey) props.onSelect(toggle(selection, id));
    else if (!selection.ids.has(id)) props.onSelect(only(id));
    const draggable = menu.commands.includes('move') && live.query.sort === null && event.pointerType !== 'touch';
    drag.current = draggable ? { id, y: event.clientY, active: false, gap: -1 } : undefined;
  }

  function onPointerMove(event: PointerEvent) {
    const moving = drag.current;
    const grid = view.current;
    const line = dropLine.current;
    if (moving === undefined || grid === undefined || line === null) return;
    if (!moving.active) {
      if (Math.abs(event.clientY - moving.y) < DRAG_PX) return;
      moving.active = true;
      scroller.current?.setPointerCapture(event.pointerId);
      scroller.current?.classList.add('grid-dragging');
    }
    const { clientY } = event;
    cancelAnimationFrame(scrolling.current);
    const aim = () => {
      if (drag.current !== moving) return;
      const { gap, y } = grid.gapAt(clientY);
      moving.gap = gap;
      line.hidden = false;
      line.style.transform = `translateY(${y}px)`;
      // Near an edge the list comes to the pointer, also while it stands still.
      if (grid.scrollTowards(clientY)) scrolling.current = requestAnimationFrame(aim);
    };
    aim();
  }

  function onPointerUp(event: PointerEvent) {
    const moving = drag.current;
    drag.current = undefined;
    scroller.current?.classList.remove('grid-dragging');
    if (dropLine.current !== null) dropLine.current.hidden = true;
    const id = rowIdAt(event.target);
    if (moving?.active !== true) {
      // A plain click on one of several selected rows means that row alone.
      if (event.button === 0 && id !== undefined && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
        if (selection.ids.size > 1) props.onSelect(only(id));
      }
      return;
    }
    const grid = view.current;
    if (grid === undefined || moving.gap < 0) return;
    const selected = selection.ids.has(moving.id) ? selection.ids : new Set([moving.id]);
    const move = dropAt(grid.order(), selected, moving.gap - grid.firstLoaded);
    if (move !== undefined) props.onMove(move);
  }

  useEffect(() => {
    const element = body.current;
    if (element === null) return;
    // Live lists and lists sorted by what ticks keep their rows in place while the pointer is on them.
    const enter = () => {
      const by = live.query.sort?.by;
      if (menu.kind === 'status-list' || (by !== undefined && menuColumn(menu, by)?.prop.readOnly === true))
        live.hold();
    };
    const leave = () => live.release();
    element.addEventListener('pointerenter', enter);
    element.addEventListener('pointerleave', leave);
    return () => {
      element.removeEventListener('pointerenter', enter);
      element.removeEventListener('pointerleave', leave);
    };
  }, [live, menu]);

  return (
    <div
      ref={scroller}
      className={menu.commands.includes('move') ? 'grid grid-ordered' : 'grid'}
      role="grid"
      aria-label={menu.title}
      aria-multiselectable="true"
      aria-colcount={columns.length}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={onPointerUp}
      onDoubleClick={(event) => {
        const id = rowIdAt(event.target);
        if (id !== undefined) props.onOpen(id);
      }}
    >
      <GridHeader
        columns={columns}
        sort={live.query.sort}
        onSort={props.onSort}
        onWidth={(name, width) => props.onWidth(name, width ?? view.current?.fit(name))}
      />
      <div ref={body} className="grid-body" role="rowgroup">
        <div ref={pane} className="grid-pane" role="presentation" />
        <div ref={dropLine} className="drop-line" hidden />
      </div>
    </div>
  );
}

function rowIdAt(target: EventTarget): string | undefined {
  const row = target instanceof Element ? target.closest('[data-id]') : null;
  return row instanceof HTMLElement ? row.dataset.id : undefined;
}
