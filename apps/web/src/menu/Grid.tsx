/**
 * The grid of a table. The header is rendered by React, the rows by the painter. Events of keyboard, pointer and drag
 * are reported by callbacks.
 */
import { type Menu, menuColumn } from '@tollway/schema';
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react';
import type { LiveMenu, Query, TreeShape } from '../api/live-menu.ts';
import { showToast } from '../ui/toasts.ts';
import type { Column } from './columns.ts';
import { GridHeader } from './GridHeader.tsx';
import { GridView } from './grid-view.ts';
import { lockedReason } from './item.ts';
import type { Move } from './row-moves.ts';
import { focusOnly, inOrder, type Selection, selectOnly, toggle } from './selection.ts';
import { commandFor, rowFor } from './table-keys.ts';
import { type Drop, toggled, treePlace } from './tree.ts';
import { TypeAhead } from './type-ahead.ts';
import { useCopy } from './use-copy.ts';
import { useRange } from './use-range.ts';
import { useRowDrag } from './use-row-drag.ts';
import type { TableSelection } from './use-selection.ts';
import { fixedRows } from './use-table-actions.ts';

/** Methods for the owner of the grid. */
export interface GridHandle {
  focus(): void;
  /** Selects the row with this number and scrolls to it. */
  show(index: number): void;
  /** Makes a column as wide as its content. */
  fit(column: string): void;
  /** Moves to the next row, from the last one to the first. */
  next(): void;
  /** Copies the selected rows as text. */
  copy(): void;
}

interface GridProps {
  readonly handle: RefObject<GridHandle | null>;
  readonly menu: Menu;
  readonly live: LiveMenu;
  readonly columns: readonly Column[];
  readonly sort: Query['sort'];
  readonly selection: Selection;
  readonly pending: TableSelection['pending'];
  /** Keeps the end of the list in view while it is in view, as new rows arrive. */
  readonly tail: boolean;
  readonly density: string;
  readonly onSelect: (selection: Selection) => void;
  readonly onOpen: (id: string) => void;
  readonly onMove: (move: Move) => void;
  /** Folded branches of the tree, if the menu is shown as one. */
  readonly tree: TreeShape | undefined;
  readonly onFold: (tree: TreeShape) => void;
  /** Called when rows were dropped in the tree. */
  readonly onDrop: (ids: readonly string[], drop: Drop) => void;
  /** Opens the menu of commands at a point of the page. */
  readonly onMenu: (at: { readonly x: number; readonly y: number }) => void;
  /** Opens the menu of a column at a point of the page. */
  readonly onColumnMenu: (column: Column, at: { readonly x: number; readonly y: number }) => void;
  readonly onSort: (column: string) => void;
  /** Moves a column before another one, or to the end. */
  readonly onReorder: (column: string, before: string | undefined) => void;
  /** Stores a width that the user has set. */
  readonly onWidth: (column: string, width: number) => void;
  /** Stores widths that fit the content. */
  readonly onFitted: (widths: readonly (readonly [string, number])[]) => void;
  /** Stores larger widths for longer texts that have come into view. */
  readonly onGrown: (widths: readonly (readonly [string, number])[]) => void;
  /** Handles keys for commands of the toolbar; returns true when the key was one. */
  readonly onCommandKey: (event: KeyboardEvent) => boolean;
}

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
  /** Rows under the last two presses of the pointer. */
  const pressed = useRef<readonly [string | undefined, string | undefined]>([undefined, undefined]);

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
      grown: (widths) => latest.current.onGrown(widths),
    });
    view.current = made;
    return () => {
      made.dispose();
      view.current = undefined;
    };
  }, [menu, live, gridId, tail]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of density changes the height of rows
  useLayoutEffect(() => view.current?.remeasure(), [density, menu, live]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new view starts with nothing
  useLayoutEffect(() => {
    view.current?.show(columns, selection);
  }, [columns, selection, menu, live]);

  const selectRange = useRange(menu, live, latest, props.pending);

  function moveFocus(to: number, extend: boolean) {
    const grid = view.current;
    grid?.focusRow(to, (id) => {
      if (extend) selectRange(grid.order(), id, false);
      else latest.current.onSelect(selectOnly(id));
    });
  }

  const copy = useCopy(menu, live, latest, scroller);
  useImperativeHandle(props.handle, () => ({
    focus() {
      scroller.current?.focus();
      // The keyboard focus must be somewhere; this selects nothing.
      const grid = view.current;
      if (grid === undefined || latest.current.selection.focus !== undefined) return;
      grid.focusRow(grid.stepFrom(undefined, 1), (id) => latest.current.onSelect(focusOnly(id)));
    },
    show: (index) => moveFocus(index, false),
    fit: (name) => header.onResized(name, undefined),
    next() {
      const grid = view.current;
      if (grid === undefined) return;
      const next = grid.stepFrom(selection.focus, 1);
      moveFocus(next < live.state.matched ? next : 0, false);
    },
    copy: copy.toClipboard,
  }));

  const drag = useRowDrag({
    view,
    scroller,
    line: dropLine,
    fixed: () => fixedRows(menu, live),
    onMove: props.onMove,
    onRefused: (why) => showToast({ kind: 'error', text: `Not moved: ${why}.` }),
    tree: () =>
      latest.current.tree && {
        ordered: menu.commands.has('move') && live.query.sort === null,
        row: (id) => live.row(id),
        onDrop: props.onDrop,
      },
  });
  // Stable functions, as a live update must not render the header.
  const header = useMemo(
    () => ({
      onSort: (name: string) => latest.current.onSort(name),
      onReorder: (name: string, before: string | undefined) => latest.current.onReorder(name, before),
      onResize: (name: string, width: number) => view.current?.resize(name, width),
      onResized: (name: string, width: number | undefined) => {
        const fit = width ?? view.current?.fit(name);
        if (fit !== undefined) latest.current.onWidth(name, fit);
      },
    }),
    [],
  );
  const typeAhead = useMemo(() => new TypeAhead(menu, live), [menu, live]);
  useHold(body, menu, live);

  function fold(id: string) {
    const folds = treePlace(live.row(id) ?? {})?.fold !== undefined;
    if (props.tree !== undefined && folds) props.onFold(toggled(props.tree, id));
  }

  /** Right unfolds a row or moves to its first child; Left folds it or moves to its parent. */
  function treeKey(key: string, at: number): boolean {
    const id = selection.focus;
    const place = treePlace(live.row(id ?? '') ?? {});
    if (props.tree === undefined || place === undefined || id === undefined) return false;
    if (key === 'ArrowRight' && place.children > 0) {
      if (place.fold === 'folded') fold(id);
      else moveFocus(at + 1, false);
      return true;
    }
    if (key !== 'ArrowLeft') return false;
    const parent = live.shown.indexOf(place.above.at(-1) ?? '');
    if (place.fold === 'open') fold(id);
    else if (parent >= 0) moveFocus(live.state.first + parent, false);
    return place.fold === 'open' || parent >= 0;
  }

  function onKeyDown(event: KeyboardEvent) {
    const grid = view.current;
    if (event.key === 'Escape' && drag.cancel()) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (grid === undefined) return;
    // The header has key bindings of its own, except for keys that move between rows or would select the text of the
    // page.
    const onTitle = event.target !== event.currentTarget;
    if ((!onTitle || commandFor(event.nativeEvent) === 'select-all') && latest.current.onCommandKey(event)) return;
    const page = Math.max(grid.viewport.rowsInView - 1, 1);
    const to = rowFor(event, onTitle, page, (rows) => grid.stepFrom(selection.focus, rows));
    if (onTitle && to === undefined) return;
    if (onTitle) scroller.current?.focus({ preventScroll: true });
    const at = grid.focusIndex(selection.focus);
    if (!event.altKey && !event.ctrlKey && !event.shiftKey && treeKey(event.key, at)) event.preventDefault();
    else if (to !== undefined) {
      event.preventDefault();
      moveFocus(to, event.shiftKey);
    } else if (event.key === ' ' && selection.focus !== undefined) {
      event.preventDefault();
      props.onSelect(toggle(selection, selection.focus));
    } else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      event.preventDefault();
      props.onMenu(grid.pointOf(selection.focus));
    } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
      typeAhead.type(event.key, columns, (index) => moveFocus(index, false));
    }
  }

  function onPointerDown(event: PointerEvent) {
    const id = rowIdAt(event.target);
    if (event.button === 0) pressed.current = [pressed.current[1], id];
    if (id === undefined || event.button !== 0) return;
    if (isHandle(event.target)) {
      scroller.current?.focus();
      fold(id);
      return;
    }
    const order = view.current?.order() ?? [];
    const ctrl = event.ctrlKey || event.metaKey;
    let next = selection;
    if (event.shiftKey) {
      event.preventDefault();
      scroller.current?.focus();
      selectRange(order, id, ctrl);
      return;
    }
    if (ctrl) next = toggle(selection, id);
    else if (!selection.ids.has(id)) next = selectOnly(id);
    if (next !== selection) props.onSelect(next);
    if (event.pointerType === 'touch') return;
    const ordered = menu.commands.has('move');
    const sorted = ordered && live.query.sort !== null && props.tree === undefined;
    if (!(ordered || (props.tree !== undefined && menu.commands.has('set')))) return;
    const ids = inOrder(next.ids.has(id) ? next : selectOnly(id), order);
    if (ids.every((each) => lockedReason(menu, live.row(each) ?? {}) === undefined)) {
      drag.press(event, ids, sorted ? SORTED : undefined);
    }
  }

  function onPointerUp(event: PointerEvent) {
    if (drag.release()) return;
    if (isHandle(event.target)) return;
    // A plain click on one of several selected rows selects that row only.
    const id = rowIdAt(event.target);
    if (event.button !== 0 || id === undefined || event.shiftKey || event.ctrlKey || event.metaKey) return;
    if (selection.ids.size > 1) props.onSelect(selectOnly(id));
  }

  function onContextMenu(event: MouseEvent) {
    const id = rowIdAt(event.target);
    event.preventDefault();
    const title = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-column]') : null;
    const column = columns.find(({ name }) => name === title?.dataset.column);
    if (title !== null && column !== undefined) {
      const { left, bottom } = title.getBoundingClientRect();
      // When a key opens the menu there is no pointer position.
      const at =
        event.clientX === 0 && event.clientY === 0 ? { x: left, y: bottom } : { x: event.clientX, y: event.clientY };
      props.onColumnMenu(column, at);
      return;
    }
    if (id !== undefined && !selection.ids.has(id)) props.onSelect(selectOnly(id));
    scroller.current?.focus();
    props.onMenu({ x: event.clientX, y: event.clientY });
  }

  const aria = {
    role: props.tree === undefined ? 'grid' : 'treegrid',
    'aria-label': menu.title,
    'aria-multiselectable': true,
    'aria-colcount': columns.length,
  };
  return (
    <div
      ref={scroller}
      className={menu.commands.has('move') || props.tree !== undefined ? 'grid grid-ordered' : 'grid'}
      {...aria}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
      onPointerMove={drag.move}
      onPointerUp={onPointerUp}
      onPointerCancel={drag.cancel}
      onContextMenu={onContextMenu}
      onCopy={copy.onCopy}
      onDoubleClick={(event) => {
        const id = rowIdAt(event.target);
        // The list may have moved between the two clicks.
        if (id !== undefined && id === pressed.current[0] && !isHandle(event.target)) props.onOpen(id);
      }}
    >
      <GridHeader columns={columns} sort={props.sort} {...header} />
      <div ref={body} className="grid-body" role="rowgroup">
        <div ref={pane} className="grid-pane" role="presentation" />
        <div ref={dropLine} className="drop-line" hidden />
      </div>
    </div>
  );
}

/** Reason why rows of an ordered list cannot be dragged while the list is sorted by a column. */
const SORTED = 'the list is sorted by a column; click # to sort by the order of the rows';

/**
 * Lists that reorder by themselves (live ones, and lists sorted by a live value) keep their order while the pointer is
 * over them.
 */
function useHold(body: RefObject<HTMLDivElement | null>, menu: Menu, live: LiveMenu) {
  useEffect(() => {
    const element = body.current;
    if (element === null) return;
    const enter = () => {
      const by = live.query.sort?.by;
      const ticks = by !== undefined && menuColumn(menu, by)?.prop.readOnly === true;
      if (menu.kind === 'status-list' || ticks) live.hold();
    };
    const leave = () => live.release();
    element.addEventListener('pointerenter', enter);
    element.addEventListener('pointerleave', leave);
    return () => {
      element.removeEventListener('pointerenter', enter);
      element.removeEventListener('pointerleave', leave);
    };
  }, [body, live, menu]);
}

/** Whether an element is the button that folds a row of a tree. */
function isHandle(target: EventTarget): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest('[data-fold]:not([data-fold="none"]) [data-expander]') !== null;
}

function rowIdAt(target: EventTarget): string | undefined {
  const row = target instanceof Element ? target.closest('[data-id]') : null;
  return row instanceof HTMLElement ? row.dataset.id : undefined;
}
