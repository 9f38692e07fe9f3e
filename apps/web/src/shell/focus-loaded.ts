/** Keyboard focus of content that is loaded after its window was opened. */
import { useDesktop } from '../wm/desktop-state.ts';
import { focusContent } from '../wm/focus.ts';
import { activeId } from '../wm/reducer.ts';
import { isNarrow } from './narrow.ts';

/**
 * Moves the keyboard focus into content of the active window that has just been loaded, unless another element has the
 * focus.
 */
export function focusLoadedContent(): void {
  const id = activeId(useDesktop.getState());
  const element = id === undefined ? null : document.querySelector<HTMLElement>(`[data-window="${id}"]`);
  if (element === null || document.querySelector('dialog[open]') !== null) return;
  if (document.activeElement === element || document.activeElement === document.body) {
    focusContent(element, isNarrow());
  }
}
