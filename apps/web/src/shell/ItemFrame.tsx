/** The frame of an item's dialog: its window, whose title is that of the item. */
import { type ReactNode, useCallback, useContext, useEffect, useLayoutEffect, useRef } from 'react';
import { ResizeRequest } from '../menu/form-resize.ts';
import { OnLoaded } from '../ui/lazy-component.tsx';
import { act } from '../wm/desktop-state.ts';
import { WindowId } from '../wm/window-id.ts';
import { focusLoadedContent } from './focus-loaded.ts';
import { isNarrow } from './narrow.ts';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
}

export function ItemFrame({ title, children }: Props) {
  const id = useContext(WindowId);
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => act({ do: 'rename', id, title }), [id, title]);
  const fitted = useRef(false);
  // The window first gets the height of its content, and later only grows, so that nothing moves away from under the
  // pointer.
  const fit = useCallback(() => {
    const element = root.current?.closest<HTMLElement>('[data-window]');
    if (element === null || element === undefined || isNarrow()) return;
    const before = element.style.height;
    const now = element.offsetHeight;
    element.style.height = 'auto';
    const height = element.offsetHeight;
    element.style.height = before;
    if (!fitted.current || height > now) act({ do: 'fit', id, height });
    fitted.current = true;
  }, [id]);
  useLayoutEffect(fit, [fit]);
  // The content arrives when the router has sent the item; the window may have been activated before.
  useEffect(focusLoadedContent, []);
  const arrived = useCallback(() => {
    fit();
    focusLoadedContent();
  }, [fit]);
  return (
    <div ref={root} className="window-panel">
      <ResizeRequest value={fit}>
        <OnLoaded value={arrived}>{children}</OnLoaded>
      </ResizeRequest>
    </div>
  );
}
