import { type CSSProperties, type KeyboardEvent, memo, type PointerEvent, useRef, useState } from 'react';
import { type Column, MIN_WIDTH } from './columns.ts';
import { pinClass, pinOffset } from './pinned-columns.ts';

interface Props {
  readonly columns: readonly Column[];
  readonly sort: { readonly by: string; readonly desc: boolean } | null;
  readonly onSort: (column: string) => void;
  /** Moves a column before another one, or to the end. */
  readonly onReorder: (column: string, before: string | undefined) => void;
  /** Reports a width while it is being changed. */
  readonly onResize: (column: string, width: number) => void;
  /** Reports the final width; undefined requests the width of the content. */
  readonly onResized: (column: string, width: number | undefined) => void;
}

/** Distance that the pointer moves before a press becomes a drag, px. */
const DRAG_PX = 5;

/** Offset of a title at the right edge; effective only while the columns are pinned. */
function pinStyle(column: Column): CSSProperties {
  const offset = pinOffset(column);
  return offset === undefined ? {} : { ['--pin' as string]: offset };
}

/** Whether a column can be moved: the columns of flags and row numbers stay at the start. */
const movable = (column: Column) => column.source !== undefined;

function nameOf(cell: Element): string | undefined {
  return cell instanceof HTMLElement ? cell.dataset.column : undefined;
}

/**
 * Column titles: a click sorts, a drag moves the column, a drag of the right edge changes the width, a double click on
 * it fits the content.
 */
export const GridHeader = memo(function GridHeader(props: Props) {
  const { columns, sort } = props;
  const [active, setActive] = useState(0);
  const titles = columns.filter((column) => column.name !== '.flags');
  const current = Math.min(active, titles.length - 1);
  const row = useRef<HTMLDivElement>(null);
  const reorder = useColumnDrag(row, columns, props.onReorder);
  const resize = useEdgeDrag(props);

  /** The titles are one stop for the Tab key; Left and Right move between them, and with Shift move the column. */
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey) return;
    event.preventDefault();
    const column = titles[current];
    const next = (current + by + titles.length) % titles.length;
    if (event.shiftKey) {
      const other = titles[next];
      if (column === undefined || other === undefined || !movable(column) || !movable(other)) return;
      if (Math.abs(next - current) !== 1) return;
      props.onReorder(column.name, by < 0 ? other.name : titles[next + 1]?.name);
    }
    setActive(next);
    if (!event.shiftKey) event.currentTarget.querySelectorAll('button')[next]?.focus();
  }

  return (
    <div role="rowgroup" className="grid-head">
      <div
        ref={row}
        role="row"
        aria-rowindex={1}
        className="head-row"
        tabIndex={-1}
        onKeyDown={onKeyDown}
        onPointerMove={reorder.move}
        onPointerUp={reorder.release}
        onPointerCancel={reorder.cancel}
      >
        {columns.map((column, index) => {
          const sorted = sort?.by === column.name || (column.name === '.nr' && sort === null);
          const direction = sorted ? (sort?.desc === true ? 'descending' : 'ascending') : undefined;
          const sortable = column.name !== '.flags';
          return (
            <div
              key={column.name}
              role="columnheader"
              aria-colindex={index + 1}
              aria-sort={direction}
              data-column={column.name}
              className={[
                'head-cell',
                column.right ? 'cell-right' : '',
                column.name === '.flags' ? 'head-stuck' : '',
                column === columns.find(movable) ? 'head-stuck head-stuck-last' : '',
                pinClass(column),
              ]
                .filter((name) => name !== '')
                .join(' ')}
              style={pinStyle(column)}
            >
              {sortable ? (
                <button
                  type="button"
                  tabIndex={titles[current] === column ? 0 : -1}
                  className="head-sort"
                  title={column.label}
                  onPointerDown={(event) => movable(column) && reorder.press(event, column.name)}
                  onClick={() => reorder.wasClick() && props.onSort(column.name)}
                >
                  <span className="head-label">{column.label}</span>
                  {direction !== undefined && (
                    <span className="head-mark" aria-hidden="true">
                      {direction === 'ascending' ? '▲' : '▼'}
                    </span>
                  )}
                </button>
              ) : (
                <span className="visually-hidden">{column.label}</span>
              )}
              <span
                className="head-edge"
                aria-hidden="true"
                onPointerDown={(event) => resize.press(event, column.name)}
                onPointerMove={resize.move}
                onPointerUp={resize.release}
                onPointerCancel={resize.release}
                onDoubleClick={() => props.onResized(column.name, undefined)}
              />
            </div>
          );
        })}
        <div className="head-drop" hidden />
      </div>
    </div>
  );
});

/** Calls `cancel` for Escape during a drag, and keeps other handlers from it. Returns the function that ends this. */
function onEscape(cancel: () => void): () => void {
  const press = (event: globalThis.KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    cancel();
  };
  window.addEventListener('keydown', press, true);
  return () => window.removeEventListener('keydown', press, true);
}

/** Drag of a title; a line shows where its column would be inserted. */
function useColumnDrag(
  row: { readonly current: HTMLElement | null },
  columns: readonly Column[],
  onReorder: Props['onReorder'],
) {
  const drag = useRef<{ name: string; x: number; active: boolean; before: string | undefined }>(undefined);
  /** Removes the listener for Escape. */
  const unlisten = useRef<() => void>(undefined);
  const click = useRef(true);
  const line = () => row.current?.querySelector<HTMLElement>('.head-drop');

  function aim(clientX: number) {
    const moving = drag.current;
    const head = row.current;
    if (moving === undefined || head === null) return;
    const cells = [...head.querySelectorAll('[data-column]')].filter((cell) =>
      columns.some((column) => column.name === nameOf(cell) && movable(column)),
    );
    const next = cells.find((cell) => {
      const { left, right } = cell.getBoundingClientRect();
      return clientX < (left + right) / 2;
    });
    moving.before = next === undefined ? undefined : nameOf(next);
    const edge = next?.getBoundingClientRect().left ?? cells.at(-1)?.getBoundingClientRect().right ?? 0;
    const mark = line();
    if (mark === null || mark === undefined) return;
    mark.hidden = false;
    mark.style.transform = `translateX(${edge - head.getBoundingClientRect().left}px)`;
  }

  function end() {
    unlisten.current?.();
    unlisten.current = undefined;
    drag.current = undefined;
    const mark = line();
    if (mark !== null && mark !== undefined) mark.hidden = true;
  }

  return {
    press(event: PointerEvent<HTMLElement>, name: string) {
      if (event.button !== 0) return;
      click.current = true;
      drag.current = { name, x: event.clientX, active: false, before: undefined };
    },
    move(event: PointerEvent<HTMLElement>) {
      const moving = drag.current;
      if (moving === undefined) return;
      if (!moving.active) {
        if (Math.abs(event.clientX - moving.x) < DRAG_PX) return;
        moving.active = true;
        unlisten.current = onEscape(() => {
          end();
          click.current = false;
        });
        event.currentTarget.setPointerCapture(event.pointerId);
      }
      aim(event.clientX);
    },
    release() {
      const moving = drag.current;
      end();
      if (moving?.active !== true) return;
      click.current = false;
      if (moving.before !== moving.name) onReorder(moving.name, moving.before);
    },
    cancel: end,
    /** False for the click that ends a drag. */
    wasClick(): boolean {
      const was = click.current;
      click.current = true;
      return was;
    },
  };
}

/** Drag of the right edge of a title, which changes the width. */
function useEdgeDrag({ onResize, onResized }: Pick<Props, 'onResize' | 'onResized'>) {
  const drag = useRef<{ name: string; x: number; width: number; to: number | undefined }>(undefined);
  /** Removes the listener for Escape. */
  const unlisten = useRef<() => void>(undefined);
  function end() {
    unlisten.current?.();
    unlisten.current = undefined;
    drag.current = undefined;
  }
  return {
    press(event: PointerEvent<HTMLElement>, name: string) {
      const cell = event.currentTarget.parentElement;
      if (cell === null || event.button !== 0) return;
      event.stopPropagation();
      event.preventDefault();
      event.currentTarget.setPointerCapture(event.pointerId);
      const width = cell.offsetWidth;
      drag.current = { name, x: event.clientX, width, to: undefined };
      unlisten.current = onEscape(() => {
        if (drag.current?.to !== undefined) onResize(name, width);
        end();
      });
    },
    move(event: PointerEvent<HTMLElement>) {
      const moving = drag.current;
      if (moving === undefined) return;
      event.stopPropagation();
      moving.to = Math.max(MIN_WIDTH, moving.width + event.clientX - moving.x);
      onResize(moving.name, moving.to);
    },
    release() {
      const moving = drag.current;
      end();
      if (moving?.to !== undefined) onResized(moving.name, moving.to);
    },
  };
}
