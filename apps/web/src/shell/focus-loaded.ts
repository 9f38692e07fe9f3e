/** The keyboard and content that comes after its window. */
import { useDesktop } from '../wm/desktop-state.ts';
import { focusContent } from '../wm/focus.ts';
import { activeId } from '../wm/reducer.ts';
import { isNarrow } from './narrow.ts';

/** Brings the keyboard into what has just come of the active window, unless it is somewhere in particular by now. */
export function focusLoadedContent(): void {
  const id = activeId(useDesktop.getState());
  const element = id === undefined ? null : document.querySelector<HTMLElement>(`[data-window="${id}"]`);
  if (element === null || document.querySelector('dialog[open]') !== null) return;
  if (document.activeElement === element || document.activeElement === document.body) {
    focusContent(element, isNarrow());
  }
}
