import { useRef, useState } from 'react';
import { Icon } from './icons.tsx';
import { dismissToast, useToasts } from './toasts.ts';

/** Within this time a second click belongs to the first, ms. */
const SECOND_CLICK_MS = 500;

/**
 * The messages that stand now; errors interrupt a screen reader, the others wait. Who presses a button here goes on with
 * the keyboard where it was before, not nowhere.
 */
export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  const before = useRef<Element>(null);
  /** Those whose button was pressed. They stay for a moment, so that the second click of two does not go to what is beneath. */
  const [spent, setSpent] = useState<ReadonlySet<number>>(new Set());
  const leave = (id: number) => {
    setSpent((now) => new Set([...now, id]));
    setTimeout(() => {
      dismissToast(id);
      setSpent((now) => new Set([...now].filter((each) => each !== id)));
    }, SECOND_CLICK_MS);
    if (before.current instanceof HTMLElement && before.current.isConnected)
      before.current.focus({ preventScroll: true });
  };
  return (
    <div
      className="toasts"
      onFocus={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) before.current = event.relatedTarget;
      }}
    >
      {toasts.map((toast) => (
        <div key={toast.id} className={`toast toast-${toast.kind}`} role={toast.kind === 'error' ? 'alert' : 'status'}>
          <span>{toast.text}</span>
          {[toast.action, toast.instead].map(
            (action) =>
              action !== undefined && (
                <button
                  key={action.label}
                  type="button"
                  className="button"
                  disabled={spent.has(toast.id)}
                  onClick={({ detail }) => {
                    // A message that took the place of the one that was meant.
                    if (detail > 1) return;
                    leave(toast.id);
                    action.run();
                  }}
                >
                  {action.label}
                </button>
              ),
          )}
          <button type="button" className="tool" aria-label="Dismiss" onClick={() => leave(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
