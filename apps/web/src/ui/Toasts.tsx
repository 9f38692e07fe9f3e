import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ActivationDelay } from './activation-delay.ts';
import { Icon } from './icons.tsx';
import { dismissToast, useToasts } from './toasts.ts';

/** Maximum time between the clicks of a double click, ms. */
const DOUBLE_CLICK_MS = 500;

/**
 * The current messages. Errors interrupt a screen reader, other messages wait. After a button of a message is pressed,
 * the focus returns to the element that had it before.
 */
export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  const before = useRef<Element>(null);
  /**
   * Ids of messages whose button was pressed. They remain for the duration of a double click, so that its second click
   * does not reach the page below.
   */
  const [pressed, setPressed] = useState<ReadonlySet<number>>(new Set());
  const leave = (id: number) => {
    setPressed((now) => new Set([...now, id]));
    setTimeout(() => {
      dismissToast(id);
      setPressed((now) => new Set([...now].filter((each) => each !== id)));
    }, DOUBLE_CLICK_MS);
    if (before.current instanceof HTMLElement && before.current.isConnected)
      before.current.focus({ preventScroll: true });
  };
  const isDelayed = useActivationDelay(toasts);
  return (
    <div
      className="toasts"
      onClickCapture={(event) => {
        if (event.detail > 0 && isDelayed(event.timeStamp)) event.stopPropagation();
      }}
      onFocus={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) before.current = event.relatedTarget;
      }}
    >
      {toasts.map((toast) => (
        <div
          key={toast.id}
          className={`toast toast-${toast.kind}`}
          data-toast={toast.id}
          role={toast.kind === 'error' ? 'alert' : 'status'}
        >
          <span>{toast.text}</span>
          {[toast.action, toast.instead].map(
            (action) =>
              action !== undefined && (
                <button
                  key={action.label}
                  type="button"
                  className="button"
                  disabled={pressed.has(toast.id)}
                  onClick={({ detail }) => {
                    // The second click of a double click on a message that has moved up.
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

/** Id of the message at a point of the page. */
function toastAt(x: number, y: number): string | undefined {
  const toast = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-toast]');
  return toast?.dataset.toast;
}

/** Returns whether the message under the pointer appeared so recently that a press was meant for something else. */
function useActivationDelay(toasts: readonly unknown[]): (at: number) => boolean {
  const delay = useRef(new ActivationDelay());
  const pointer = useRef({ x: -1, y: -1 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the messages may put another one under the pointer
  useLayoutEffect(() => {
    const { x, y } = pointer.current;
    delay.current.changed(toastAt(x, y), performance.now());
  }, [toasts]);
  useEffect(() => {
    const move = (event: PointerEvent) => {
      pointer.current = { x: event.clientX, y: event.clientY };
      if (useToasts.getState().toasts.length > 0) delay.current.moved(toastAt(event.clientX, event.clientY));
    };
    const types = ['pointermove', 'pointerdown'] as const;
    for (const type of types) window.addEventListener(type, move, { capture: true, passive: true });
    return () => {
      for (const type of types) window.removeEventListener(type, move, { capture: true });
    };
  }, []);
  return (at) => delay.current.isActive(at);
}
