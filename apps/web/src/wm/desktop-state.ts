/** The state of the desktop, one for the page. */
import { create } from 'zustand';
import { type Action, activeId, type DesktopState, emptyDesktop, reduce } from './reducer.ts';

export const useDesktop = create<DesktopState>(() => emptyDesktop);

/** Dispatches an action to the reducer. */
export function act(action: Action): void {
  const before = useDesktop.getState();
  const after = reduce(before, action);
  if (after !== before) useDesktop.setState(after, true);
}

/** Id of the active window. */
export function useActiveId(): string | undefined {
  return useDesktop(activeId);
}

/** Counts requests to focus the active window. */
const useFocusCount = create<{ readonly count: number }>(() => ({ count: 0 }));

/** Focuses the active window, e.g. when an address is opened whose window is already open. */
export function focusActive(): void {
  useFocusCount.setState(({ count }) => ({ count: count + 1 }));
}

/** Changes whenever the active window should take the focus. */
export function useFocusRequests(active: boolean): number {
  return useFocusCount((state) => (active ? state.count : 0));
}

/** The window that is being moved or resized by the pointer; windows below it must be rendered already. */
export const useGrabbed = create<{ readonly id: string | undefined }>(() => ({ id: undefined }));

/** The window whose menu is open, and the position of the menu. */
export const useWindowMenu = create<{ readonly id: string | undefined; readonly x: number; readonly y: number }>(
  () => ({ id: undefined, x: 0, y: 0 }),
);

export function openWindowMenu(id: string, x: number, y: number): void {
  useWindowMenu.setState({ id, x, y });
}

/** The window that the arrow keys move or resize. */
export const useKeyboardMove = create<{ readonly id: string | undefined; readonly what: 'move' | 'resize' }>(() => ({
  id: undefined,
  what: 'move',
}));
