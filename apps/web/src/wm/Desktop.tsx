/** The desktop: all windows stacked, or on a narrow screen one page at a time. */
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { takesEscape } from '../ui/escape.ts';
import { Lazy } from '../ui/lazy-component.tsx';
import { isCovered } from './cover.ts';
import { act, openWindowMenu, useDesktop, useGrabbed, useWindowMenu } from './desktop-state.ts';
import type { Rect } from './geometry.ts';
import { desktopCommand } from './keys.ts';
import { activeId, type DesktopState, shownRect } from './reducer.ts';
import { type Render, Window } from './Window.tsx';
import { WindowMenu } from './window-menu.ts';

interface Props {
  readonly narrow: boolean;
  readonly render: Render;
  /** Opens a second window with the content of the window `id`. */
  readonly onAnother: (id: string) => void;
  /** Called when the user requests to close a window. */
  readonly onCloseRequest: (id: string) => void;
  readonly onCloseAllRequest: () => void;
  /** Called when the user goes back from a page to the previous one. */
  readonly onBack: (id: string) => void;
  /** Content that is shown when no window is open. */
  readonly children: ReactNode;
}

/** The visible windows. */
function visibleIds(state: DesktopState, grabbed: string | undefined, narrow: boolean): ReadonlySet<string> {
  const active = activeId(state);
  if (narrow) return new Set(active === undefined ? [] : [active]);
  const visible = new Set<string>();
  const above: Rect[] = [];
  for (const id of [...state.order].reverse()) {
    const win = state.windows.find((each) => each.id === id);
    if (win === undefined || win.minimised) continue;
    const rect = shownRect(win, state.desktop);
    if (!isCovered(rect, above, state.desktop)) visible.add(id);
    // While a window is moved, the windows that it covers may come into view.
    if (id !== grabbed) above.push(rect);
  }
  return visible;
}

export function Desktop({ narrow, render, onAnother, onCloseRequest, onCloseAllRequest, onBack, children }: Props) {
  const root = useRef<HTMLElement>(null);
  const state = useDesktop();
  const grabbed = useGrabbed((each) => each.id);
  const isMenuOpen = useWindowMenu((menu) => menu.id !== undefined);
  const active = activeId(state);
  const visible = useMemo(() => visibleIds(state, grabbed, narrow), [state, grabbed, narrow]);
  useKeys(root, onCloseRequest);

  useLayoutEffect(() => {
    const element = root.current;
    // A rotated phone, or its keyboard, is no reason to move windows.
    if (element === null || narrow) return;
    const measure = () => act({ do: 'desktop', size: { width: element.clientWidth, height: element.clientHeight } });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [narrow]);

  return (
    <main ref={root} className={grabbed === undefined ? 'desktop' : 'desktop desktop-grabbed'}>
      {state.windows.length === 0 && children}
      {state.windows.map((win) => (
        <Window
          key={win.id}
          win={win}
          desktop={state.desktop}
          z={state.order.indexOf(win.id)}
          active={win.id === active}
          visible={visible.has(win.id)}
          page={narrow}
          render={render}
          onCloseRequest={onCloseRequest}
          onBack={onBack}
        />
      ))}
      {isMenuOpen && <Lazy component={WindowMenu} props={{ onAnother, onCloseRequest, onCloseAllRequest }} />}
    </main>
  );
}

/** Whether the target is a text field of a list, in which Escape ends the editing and does not close the window. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}

function useKeys(root: { readonly current: HTMLElement | null }, onCloseRequest: Props['onCloseRequest']): void {
  const requestClose = useRef(onCloseRequest);
  requestClose.current = onCloseRequest;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const command = desktopCommand(event);
      if (command === undefined || event.defaultPrevented || event.isComposing) return;
      // While a modal dialog is open, all keys belong to it.
      if (document.querySelector('dialog[open]') !== null) return;
      const state = useDesktop.getState();
      const id = activeId(state);
      const element = root.current?.querySelector(`[data-window="${id}"]`);
      const win = state.windows.find((each) => each.id === id);
      if (command === 'escape') {
        const inside = element?.contains(event.target as Node | null) === true;
        if (!inside || win === undefined || (win.role !== 'dialog' && isTyping(event.target))) return;
      }
      event.preventDefault();
      if (command === 'next' || command === 'previous') act({ do: command });
      else if (id === undefined || element === null || element === undefined) return;
      else if (command === 'menu') {
        const { left, top } = element.getBoundingClientRect();
        openWindowMenu(id, left + 4, top + 30);
      } else if (command === 'escape') {
        if (!takesEscape(element)) requestClose.current(id);
      } else requestClose.current(id);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [root]);
}
