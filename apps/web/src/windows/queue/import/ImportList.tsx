/** The lines of a report. Only those in view are in the document: there may be tens of thousands. */
import { useLayoutEffect, useRef, useState } from 'react';
import type { ImportLine } from '../../../api/queue-import.ts';

const ROW_PX = 24;
/** Rows drawn beyond the screen, above and below. */
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
  const first = Math.max(0, Math.floor(view.top / ROW_PX) - OVERDRAW);
  const last = Math.min(lines.length, Math.ceil((view.top + view.height) / ROW_PX) + OVERDRAW);
  return (
    <div ref={scroller} className="import-scroll" role="group" aria-label="What the list changes" tabIndex={0}>
      <div className="import-list" role="table" aria-label="Changes" aria-rowcount={lines.length + 1}>
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
            <div
              key={`${line.line} ${line.name} ${line.text}`}
              role="row"
              className={`import-row import-${line.action}`}
              aria-rowindex={first + at + 2}
              style={{ top: (first + at) * ROW_PX }}
            >
              <span role="cell" className="cell-right">
                {line.line === 0 ? '' : line.line}
              </span>
              <span role="cell">{ACTION_WORDS[line.action]}</span>
              <span role="cell" title={line.name}>
                {line.name}
              </span>
              <span role="cell" title={line.hint === '' ? line.text : `${line.text}\nHint: ${line.hint}`}>
                {line.text}
                {line.hint !== '' && <span className="import-hint"> ⚠ {line.hint}</span>}
              </span>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
