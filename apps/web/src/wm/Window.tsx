/** A window of the desktop: title bar, edges for resizing, and the content that the owner of the desktop provides. */
import { type KeyboardEvent, memo, type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from '../ui/icons.tsx';
import { Visibility } from '../ui/visibility.ts';
import { act, openWindowMenu, useDesktop, useFocusRequests, useKeyboardMove } from './desktop-state.ts';
import { focusContent } from './focus.ts';
import type { Edges, Rect, Size } from './geometry.ts';
import { movedByKey } from './keyboard-move.ts';
import { type DesktopWindow, shownRect, windowOf } from './reducer.ts';
import { useReveal } from './reveal.ts';
import { useWindowDrag } from './use-window-drag.ts';
import { WindowId } from './window-id.ts';

/** Renders the content of an address in the window `id`. */
export type Render = (id: string, address: string) => ReactNode;

interface Props {
  readonly win: DesktopWindow;
  readonly desktop: Size;
  /** Position in the stack, from the bottom. */
  readonly z: number;
  readonly active: boolean;
  readonly visible: boolean;
  /** Whether it fills the desktop, with a back button instead of a frame, as on a phone. */
  readonly page: boolean;
  readonly render: Render;
  readonly onCloseRequest: (id: string) => void;
  readonly onBack: (id: string) => void;
}

const GRIPS: readonly (readonly [string, Edges])[] = [
  ['n', { top: true }],
  ['s', { bottom: true }],
  ['e', { right: true }],
  ['w', { left: true }],
  ['ne', { top: true, right: true }],
  ['nw', { top: true, left: true }],
  ['se', { bottom: true, right: true }],
  ['sw', { bottom: true, left: true }],
];

const Content = memo(function Content({
  id,
  address,
  render,
}: {
  readonly id: string;
  readonly address: string;
  readonly render: Render;
}) {
  return render(id, address);
});

export const Window = memo(function Window({
  win,
  desktop,
  z,
  active,
  visible,
  page,
  render,
  onCloseRequest,
  onBack,
}: Props) {
  const { id, title, maximised, minimised } = win;
  const rect = shownRect(win, desktop);
  const root = useRef<HTMLElement>(null);
  const titleId = useId();
  const startDrag = useWindowDrag(root, id);
  const keyboardMove = useKeyboardMove((state) => (state.id === id ? state.what : undefined));
  useFocus(root, active, page);
  useReveal(root, id, page);
  useKeyboardMoveEnd(root, id, keyboardMove !== undefined);

  const toggle = () => act({ do: maximised ? 'restore' : 'maximise', id });
  const classes = ['window'];
  if (active) classes.push('window-active');
  if (minimised) classes.push('window-minimised');
  if (page) classes.push('window-page');
  else if (maximised) classes.push('window-maximised');

  return (
    <section
      ref={root}
      className={classes.join(' ')}
      role={win.role}
      aria-labelledby={titleId}
      data-window={id}
      tabIndex={-1}
      style={
        page
          ? { zIndex: z }
          : {
              zIndex: z,
              transform: `translate(${rect.x}px, ${rect.y}px)`,
              width: rect.width,
              height: rect.height,
            }
      }
      onPointerDownCapture={() => act({ do: 'focus', id })}
      onFocusCapture={() => act({ do: 'focus', id })}
      onKeyDownCapture={(event) => keyboardMove !== undefined && onMoveKey(event, id, keyboardMove)}
    >
      <div className="window-frame">
        <header
          className="window-title"
          onPointerDown={(event) => {
            if (!page && (event.target as Element).closest('button') === null) startDrag(event);
          }}
          onDoubleClick={(event) => !page && (event.target as Element).closest('button') === null && toggle()}
          onContextMenu={(event) => {
            event.preventDefault();
            if (!page) openWindowMenu(id, event.clientX, event.clientY);
          }}
        >
          {page ? (
            <TitleButton label="Back" icon="back" reachable onPress={() => onBack(id)} />
          ) : (
            <button
              type="button"
              className="window-button window-menu"
              aria-label="Window menu"
              aria-haspopup="menu"
              title="Window menu (Alt+-)"
              onClick={(event) => {
                const { left, bottom } = event.currentTarget.getBoundingClientRect();
                openWindowMenu(id, left, bottom + 2);
              }}
            >
              <Icon name="dots" />
            </button>
          )}
          <h2 id={titleId}>{title}</h2>
          {keyboardMove !== undefined && (
            <span className="window-hint" role="status">
              Arrow keys {keyboardMove === 'move' ? 'move' : 'resize'} it (Shift: finely), Enter keeps, Esc puts it back
            </span>
          )}
          {!page && (
            <>
              <TitleButton label="Minimise" icon="minimise" onPress={() => act({ do: 'minimise', id })} />
              <TitleButton
                label={maximised ? 'Restore' : 'Maximise'}
                icon={maximised ? 'restore' : 'maximise'}
                onPress={toggle}
              />
            </>
          )}
          <TitleButton label="Close" icon="close" reachable={page} onPress={() => onCloseRequest(id)} />
        </header>
        <div className="window-body">
          <Visibility value={visible}>
            <WindowId value={id}>
              <Content id={id} address={win.address} render={render} />
            </WindowId>
          </Visibility>
        </div>
      </div>
      {!page &&
        !maximised &&
        GRIPS.map(([name, edges]) => (
          <div
            key={name}
            className={`window-grip window-grip-${name}`}
            aria-hidden="true"
            onPointerDown={(event) => startDrag(event, edges)}
          />
        ))}
    </section>
  );
});

interface TitleButtonProps {
  readonly label: string;
  readonly icon: 'minimise' | 'maximise' | 'restore' | 'close' | 'back';
  /** Whether Tab reaches it. Other buttons are in the window menu, so that Tab leads from the title to the content. */
  readonly reachable?: boolean;
  readonly onPress: () => void;
}

function TitleButton({ label, icon, reachable = false, onPress }: TitleButtonProps) {
  return (
    <button
      type="button"
      className={`window-button window-${icon}`}
      aria-label={label}
      title={label}
      tabIndex={reachable ? 0 : -1}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Moves the keyboard focus into a window that becomes active, to its former position or to the content. */
function useFocus(root: { readonly current: HTMLElement | null }, active: boolean, page: boolean): void {
  const last = useRef<Element>(null);
  const requests = useFocusRequests(active);
  useEffect(() => {
    const element = root.current;
    if (element === null) return;
    const note = (event: FocusEvent) => {
      if (event.target instanceof Element) last.current = event.target;
    };
    element.addEventListener('focusin', note);
    return () => element.removeEventListener('focusin', note);
  }, [root]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each request is a reason
  useEffect(() => {
    const element = root.current;
    if (!active || element === null || element.contains(document.activeElement)) return;
    // The focus stays in the login dialog.
    if (document.querySelector('dialog[open]') !== null) return;
    const before = last.current;
    if (before instanceof HTMLElement && element.contains(before) && before.checkVisibility()) before.focus();
    // The element that had the focus may be disabled by now.
    if (!element.contains(document.activeElement)) focusContent(element, page);
  }, [root, active, page, requests]);
}

function onMoveKey(event: KeyboardEvent, id: string, what: 'move' | 'resize'): void {
  const state = useDesktop.getState();
  const win = windowOf(state, id);
  if (win === undefined) return;
  const rect = movedByKey(shownRect(win, state.desktop), what, event.key, event.shiftKey);
  if (rect !== undefined) act({ do: 'put', id, rect });
  else if (event.key === 'Enter' || event.key === 'Escape') {
    useKeyboardMove.setState({ id: undefined });
    const before = moveStart.get(id);
    if (event.key === 'Escape' && before !== undefined) act({ do: 'put', id, rect: before });
  } else if (event.key !== 'Shift') return;
  event.preventDefault();
  event.stopPropagation();
}

/** Positions of windows before they were moved by arrow keys. */
const moveStart = new Map<string, Rect>();

/** Ends moving by arrow keys when the window loses the focus. */
function useKeyboardMoveEnd(root: { readonly current: HTMLElement | null }, id: string, isMoving: boolean): void {
  useLayoutEffect(() => {
    const element = root.current;
    if (!isMoving || element === null) return;
    const state = useDesktop.getState();
    const win = windowOf(state, id);
    if (win !== undefined) moveStart.set(id, shownRect(win, state.desktop));
    if (!element.contains(document.activeElement)) element.focus();
    const release = (event: FocusEvent) => {
      if (!(event.relatedTarget instanceof Node && element.contains(event.relatedTarget))) {
        useKeyboardMove.setState({ id: undefined });
      }
    };
    element.addEventListener('focusout', release);
    return () => {
      element.removeEventListener('focusout', release);
      moveStart.delete(id);
    };
  }, [root, id, isMoving]);
}
