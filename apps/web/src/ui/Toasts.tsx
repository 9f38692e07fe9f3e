import { useRef } from 'react';
import { Icon } from './icons.tsx';
import { dismissToast, useToasts } from './toasts.ts';

/**
 * The messages that stand now; errors interrupt a screen reader, the others wait. Who presses a button here goes on with
 * the keyboard where it was before, not nowhere.
 */
export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  const before = useRef<Element>(null);
  const leave = (id: number) => {
    dismissToast(id);
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
                  onClick={() => {
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
