/** The frame of an item's dialog: the window that it is in, which gets the title of the item. */
import { type ReactNode, useContext, useEffect, useLayoutEffect, useRef } from 'react';
import { act, useDesk } from '../wm/desk-state.ts';
import { focusContent } from '../wm/focus.ts';
import { activeId } from '../wm/reducer.ts';
import { WindowId } from '../wm/window-id.ts';
import { isNarrow } from './narrow.ts';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
}

export function ItemFrame({ title, children }: Props) {
  const id = useContext(WindowId);
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => act({ do: 'rename', id, title }), [id, title]);
  useLayoutEffect(() => {
    const element = root.current?.closest<HTMLElement>('[data-window]');
    if (element === null || element === undefined || isNarrow()) return;
    const before = element.style.height;
    element.style.height = 'auto';
    const height = element.offsetHeight;
    element.style.height = before;
    act({ do: 'fit', id, height });
  }, [id]);
  // The content comes when the router has sent the item; the window may have been active before.
  useEffect(() => {
    const element = root.current?.closest<HTMLElement>('[data-window]');
    if (element === null || element === undefined || activeId(useDesk.getState()) !== id) return;
    if (document.activeElement === element || document.activeElement === document.body) {
      focusContent(element, isNarrow());
    }
  }, [id]);
  return (
    <div ref={root} className="window-panel">
      {children}
    </div>
  );
}
