/** Messages about a form whose window stays open. */
import { showToast } from '../ui/toasts.ts';

/** Says why Escape, or the X of a window, does nothing now. */
export function notifySending(): void {
  const text = 'What was sent is not answered yet. Cancel closes the window without waiting for the answer.';
  showToast({ kind: 'info', key: 'sending', text });
}

/** Says why a window is still there though what was sent by its OK was taken. */
export function notifyStaysOpen(): void {
  showToast({ kind: 'info', text: 'The window stays open: what was typed after OK is not stored yet.' });
}
