/** A dialog in front of everything. Escape asks to close; focus stays inside and goes back where it was. */
import { Dialog, DialogDismiss, useDialogStore } from '@ariakit/react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from './icons.tsx';

interface Props {
  readonly title: string;
  readonly size?: 'small' | 'normal';
  /** Called to close it; absent for a dialog that only its content ends. */
  readonly onClose?: () => void;
  /** The element with `data-autofocus` has the focus at first. */
  readonly children: ReactNode;
}

const CONTROLS = 'input:enabled, textarea:enabled, select:enabled, [role="tab"][aria-selected="true"]';

export function ModalDialog({ title, size = 'normal', onClose, children }: Props) {
  const titleId = useId();
  // The owner closes it: a dialog that is asked to close may stay open, to ask a question itself.
  const store = useDialogStore({
    open: true,
    setOpen: (open) => {
      if (!open) onClose?.();
    },
  });
  return (
    <Dialog
      store={store}
      // The element that scripts of the page look for; what is behind it is inert.
      render={<dialog open />}
      className={`modal modal-${size}`}
      aria-labelledby={titleId}
      backdrop={<div className="modal-backdrop" />}
      hideOnInteractOutside={false}
      preventBodyScroll={false}
      // Both in the moment when it comes or goes, see below.
      autoFocusOnShow={false}
      autoFocusOnHide={false}
    >
      <Inside title={title} titleId={titleId} closes={onClose !== undefined}>
        {children}
      </Inside>
    </Dialog>
  );
}

interface InsideProps {
  readonly title: string;
  readonly titleId: string;
  readonly closes: boolean;
  readonly children: ReactNode;
}

/** The content, which takes the focus as soon as it is there: the next key meets it, and nothing behind it. */
function Inside({ title, titleId, closes, children }: InsideProps) {
  const header = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const dialog = header.current?.closest('dialog');
    if (dialog === null || dialog === undefined) return;
    const opener = document.activeElement;
    // What the content wants, else its first control, not the button that closes it; touch screens would open their keyboard.
    const isTouch = window.matchMedia('(pointer: coarse)').matches;
    const control = isTouch ? null : dialog.querySelector<HTMLElement>(CONTROLS);
    (dialog.querySelector<HTMLElement>('[data-autofocus]') ?? control ?? dialog).focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <>
      <header ref={header} className="modal-title">
        <h2 id={titleId}>{title}</h2>
        {closes && (
          <DialogDismiss className="tool" aria-label="Close" title="Close (Esc)">
            <Icon name="close" />
          </DialogDismiss>
        )}
      </header>
      {children}
    </>
  );
}
