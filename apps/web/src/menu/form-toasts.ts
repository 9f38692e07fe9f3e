/** Messages about a form whose window stays open. */
import { showToast } from '../ui/toasts.ts';

/** Message that Escape, or the close button of a window, has no effect while a request is pending. */
export function notifySending(): void {
  const text = 'What was sent is not answered yet. Cancel closes the window without waiting for the answer.';
  showToast({ kind: 'info', key: 'sending', text });
}

/** Message that a window stays open although the request of its OK button succeeded. */
export function notifyStaysOpen(): void {
  showToast({ kind: 'info', text: 'The window stays open: what was typed after OK is not stored yet.' });
}
