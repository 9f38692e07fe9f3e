import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';
import { Resting } from './resting.ts';
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
  const isHeld = useHeld(toasts);
  return (
    <div
      className="toasts"
      onClickCapture={(event) => {
        if (event.detail > 0 && isHeld(event.timeStamp)) event.stopPropagation();
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

/** Which message is at a place of the page. */
function toastAt(x: number, y: number): string | undefined {
  const toast = document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-toast]');
  return toast?.dataset.toast;
}

/** Tells whether the message under the pointer came there by itself just now: nobody has read it who presses there. */
function useHeld(toasts: readonly unknown[]): (at: number) => boolean {
  const resting = useRef(new Resting());
  const pointer = useRef({ x: -1, y: -1 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: they come, go and move up
  useLayoutEffect(() => {
    const { x, y } = pointer.current;
    resting.current.changed(toastAt(x, y), performance.now());
  }, [toasts]);
  useEffect(() => {
    const move = (event: PointerEvent) => {
      pointer.current = { x: event.clientX, y: event.clientY };
      if (useToasts.getState().toasts.length > 0) resting.current.moved(toastAt(event.clientX, event.clientY));
    };
    const types = ['pointermove', 'pointerdown'] as const;
    for (const type of types) window.addEventListener(type, move, { capture: true, passive: true });
    return () => {
      for (const type of types) window.removeEventListener(type, move, { capture: true });
    };
  }, []);
  return (at) => resting.current.isHeld(at);
}
