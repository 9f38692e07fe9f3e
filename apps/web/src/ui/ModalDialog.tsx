/** A dialog in front of everything. Escape asks to close; focus stays inside and goes back where it was. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Icon } from './icons.tsx';

interface Props {
  readonly title: string;
  readonly size?: 'small' | 'normal';
  /** Absent for a dialog that only its content ends. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
}

const CONTROLS = 'input:enabled, textarea:enabled, select:enabled, [role="tab"][aria-selected="true"]';

export function ModalDialog({ title, size = 'normal', onClose, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const close = useRef(onClose);
  close.current = onClose;

  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null) return;
    const opener = document.activeElement;
    dialog.showModal();
    // The first control of the content, not the button that closes it; touch screens would open their keyboard.
    if (!dialog.contains(document.activeElement) || document.activeElement?.closest('header') !== null) {
      const control = window.matchMedia('(pointer: coarse)').matches
        ? null
        : dialog.querySelector<HTMLElement>(CONTROLS);
      (control ?? dialog).focus();
    }
    const cancel = (event: Event) => {
      // What cannot be prevented closes the dialog, and is told by that.
      if (!event.cancelable) return;
      event.preventDefault();
      close.current?.();
    };
    // A second Escape closes the dialog without asking; one whose owner keeps it comes back.
    const closed = () => {
      close.current?.();
      requestAnimationFrame(() => {
        if (dialog.isConnected && !dialog.open) dialog.showModal();
      });
    };
    dialog.addEventListener('cancel', cancel);
    dialog.addEventListener('close', closed);
    return () => {
      dialog.removeEventListener('cancel', cancel);
      dialog.removeEventListener('close', closed);
      dialog.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);

  return (
    <dialog ref={ref} className={`modal modal-${size}`} tabIndex={-1} aria-labelledby={titleId}>
      <header className="modal-title">
        <h2 id={titleId}>{title}</h2>
        {onClose !== undefined && (
          <button type="button" className="tool" aria-label="Close" title="Close (Esc)" onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
