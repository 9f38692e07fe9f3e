/**
 * The lines of a report. The selected line, or else the first, is shown in full below them. Only visible lines are in
 * the document, as there may be tens of thousands.
 */

import type { ImportLine } from '@tollway/protocol/queue-import';
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { inOneLine } from '../../../../menu/find-matches.ts';

const ROW_PX = 24;
/** Number of rows drawn beyond the screen, above and below each. */
const OVERDRAW = 8;

const ACTION_WORDS = { add: 'add', change: 'change', remove: 'remove', same: 'unchanged', error: 'error' } as const;

export function ImportList({ lines }: { readonly lines: readonly ImportLine[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const resize = new ResizeObserver(look);
    resize.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      resize.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  const [picked, setPicked] = useState<{ readonly of: readonly ImportLine[]; readonly at: number }>();
  const selected = picked?.of === lines ? picked.at : 0;
  const whole = lines[selected];

  function select(at: number) {
    setPicked({ of: lines, at });
    const element = scroller.current;
    if (element === null) return;
    // The header row must not cover the selected row.
    const top = Math.min(element.scrollTop, at * ROW_PX);
    element.scrollTop = Math.max(top, (at + 2) * ROW_PX - element.clientHeight);
  }

  function onKeyDown(event: KeyboardEvent) {
    const page = Math.max(1, Math.floor(view.height / ROW_PX) - 2);
    const to = {
      ArrowDown: selected + 1,
      ArrowUp: selected - 1,
      PageDown: selected + page,
      PageUp: selected - page,
      Home: 0,
      End: lines.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(Math.min(Math.max(to, 0), lines.length - 1));
  }

  const first = Math.max(0, Math.floor(view.top / ROW_PX) - OVERDRAW);
  const last = Math.min(lines.length, Math.ceil((view.top + view.height) / ROW_PX) + OVERDRAW);
  return (
    <>
      <div
        ref={scroller}
        className="import-scroll"
        role="grid"
        aria-label="Changes"
        aria-rowcount={lines.length + 1}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div className="import-list" role="presentation">
          <div role="row" className="import-row import-head" aria-rowindex={1}>
            <span role="columnheader" className="cell-right">
              Line
            </span>
            <span role="columnheader">Action</span>
            <span role="columnheader">Name</span>
            <span role="columnheader">What</span>
          </div>
          <div role="rowgroup" className="import-body" style={{ blockSize: lines.length * ROW_PX }}>
            {lines.slice(first, last).map((line, at) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys of the grid select too
              <div
                key={`${line.line} ${line.name} ${line.text}`}
                role="row"
                className={`import-row import-${line.action}`}
                aria-rowindex={first + at + 2}
                aria-selected={first + at === selected}
                onClick={() => select(first + at)}
                style={{ top: (first + at) * ROW_PX }}
              >
                <span role="gridcell" className="cell-right">
                  {line.line === 0 ? '' : line.line}
                </span>
                <span role="gridcell">{ACTION_WORDS[line.action]}</span>
                <span role="gridcell" title={line.name}>
                  {inOneLine(line.name)}
                </span>
                <span role="gridcell" title={line.hint === '' ? line.text : `${line.text}\nHint: ${line.hint}`}>
                  {inOneLine(line.text)}
                  {line.hint !== '' && <span className="import-hint"> ⚠ {line.hint}</span>}
                </span>
              </div>
            ))}
          </div>
        </div>
      </div>
      {whole !== undefined && (
        <p className="whole-text">
          {whole.line === 0 ? '' : `Line ${whole.line}, `}
          {whole.name || 'without a name'}: {whole.text === '' ? 'stays as it is' : whole.text}
          {whole.hint !== '' && <span className="import-hint">{`\n⚠ ${whole.hint}`}</span>}
        </p>
      )}
    </>
  );
}
