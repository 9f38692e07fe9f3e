/** The one desktop of the page. */
import { create } from 'zustand';
import { type Action, activeId, type DesktopState, emptyDesktop, reduce } from './reducer.ts';

export const useDesktop = create<DesktopState>(() => emptyDesktop);

/** Lets something happen to the windows. */
export function act(action: Action): void {
  const before = useDesktop.getState();
  const after = reduce(before, action);
  if (after !== before) useDesktop.setState(after, true);
}

/** The window that takes the keys. */
export function useActiveId(): string | undefined {
  return useDesktop(activeId);
}

/** Counts how often the active window was asked for anew; the keyboard then goes into it. */
const useFocusCount = create<{ readonly count: number }>(() => ({ count: 0 }));

/** Brings the keyboard into the active window, e.g. when somebody opens again what is open. */
export function focusActive(): void {
  useFocusCount.setState(({ count }) => ({ count: count + 1 }));
}

/** Changes whenever the keyboard should come into the active window. */
export function useFocusRequests(active: boolean): number {
  return useFocusCount((state) => (active ? state.count : 0));
}

/** The window that the pointer moves or stretches just now; what lies below it must be alive already. */
export const useGrabbed = create<{ readonly id: string | undefined }>(() => ({ id: undefined }));

/** The window whose menu is open, and where on the page. */
export const useWindowMenu = create<{ readonly id: string | undefined; readonly x: number; readonly y: number }>(
  () => ({ id: undefined, x: 0, y: 0 }),
);

export function openWindowMenu(id: string, x: number, y: number): void {
  useWindowMenu.setState({ id, x, y });
}

/** The window that the arrow keys move or stretch. */
export const useKeyGrip = create<{ readonly id: string | undefined; readonly what: 'move' | 'resize' }>(() => ({
  id: undefined,
  what: 'move',
}));
