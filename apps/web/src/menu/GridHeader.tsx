import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import { type Column, LEAST_WIDTH } from './columns.ts';
import { pinClass, pinOffset } from './pins.ts';

interface Props {
  readonly columns: readonly Column[];
  readonly sort: { readonly by: string; readonly desc: boolean } | null;
  readonly onSort: (column: string) => void;
  /** A new width; undefined asks for the width of the content. */
  readonly onWidth: (column: string, width: number | undefined) => void;
}

/** Column titles: a click sorts, the right edge changes the width, a double click on it fits the content. */
export function GridHeader({ columns, sort, onSort, onWidth }: Props) {
  const [active, setActive] = useState(0);
  const titles = columns.filter((column) => column.name !== '.flags');
  const current = Math.min(active, titles.length - 1);
  const drag = useRef<{ name: string; x: number; width: number }>(undefined);

  function onPointerDown(event: PointerEvent<HTMLElement>, name: string) {
    const cell = event.currentTarget.parentElement;
    if (cell === null || event.button !== 0) return;
    event.stopPropagation();
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { name, x: event.clientX, width: cell.offsetWidth };
  }

  function onPointerMove(event: PointerEvent<HTMLElement>) {
    const moving = drag.current;
    if (moving === undefined) return;
    onWidth(moving.name, Math.max(LEAST_WIDTH, moving.width + event.clientX - moving.x));
  }

  /** One stop for the Tab key; Left and Right move between the titles. */
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (current + step + titles.length) % titles.length;
    setActive(next);
    event.currentTarget.querySelectorAll('button')[next]?.focus();
  }

  return (
    <div role="rowgroup" className="grid-head">
      <div role="row" aria-rowindex={1} className="head-row" tabIndex={-1} onKeyDown={onKeyDown}>
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
              className={['head-cell', column.right ? 'cell-right' : '', pinClass(column)].join(' ').trimEnd()}
              style={{ insetInlineEnd: pinOffset(column) }}
            >
              {sortable ? (
                <button
                  type="button"
                  tabIndex={titles[current] === column ? 0 : -1}
                  className="head-sort"
                  title={column.label}
                  onClick={() => onSort(column.name)}
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
                onPointerDown={(event) => onPointerDown(event, column.name)}
                onPointerMove={onPointerMove}
                onPointerUp={() => {
                  drag.current = undefined;
                }}
                onDoubleClick={() => onWidth(column.name, undefined)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}
