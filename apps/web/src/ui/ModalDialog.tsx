/** A dialog in front of everything. Escape asks to close; focus stays inside and goes back where it was. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Icon } from './icons.tsx';

interface Props {
  readonly title: string;
  readonly size?: 'small' | 'normal';
  readonly onClose: () => void;
  readonly children: ReactNode;
}

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
    const cancel = (event: Event) => {
      event.preventDefault();
      close.current();
    };
    dialog.addEventListener('cancel', cancel);
    return () => {
      dialog.removeEventListener('cancel', cancel);
      dialog.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);

  return (
    <dialog ref={ref} className={`modal modal-${size}`} aria-labelledby={titleId}>
      <header className="modal-title">
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="tool" aria-label="Close" title="Close (Esc)" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}
