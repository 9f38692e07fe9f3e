import { Icon } from './icons.tsx';
import { dismissToast, useToasts } from './toasts.ts';

/** The messages that stand now; errors interrupt a screen reader, the others wait. */
export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  return (
    <div className="toasts">
      {toasts.map((toast) => (
        <div key={toast.id} className={`toast toast-${toast.kind}`} role={toast.kind === 'error' ? 'alert' : 'status'}>
          <span>{toast.text}</span>
          {toast.action !== undefined && (
            <button
              type="button"
              className="button"
              onClick={() => {
                dismissToast(toast.id);
                toast.action?.run();
              }}
            >
              {toast.action.label}
            </button>
          )}
          <button type="button" className="tool" aria-label="Dismiss" onClick={() => dismissToast(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
