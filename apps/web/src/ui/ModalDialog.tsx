/** A modal dialog. Escape requests to close it; the focus stays inside and then returns to its former position. */
import { Dialog, DialogDismiss, useDialogStore } from '@ariakit/react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from './icons.tsx';

interface Props {
  readonly title: string;
  readonly size?: 'small' | 'normal';
  /** Called to close it; absent for a dialog that only its content closes. */
  readonly onClose?: () => void;
  /** The element with `data-autofocus` initially has the focus. */
  readonly children: ReactNode;
}

const CONTROLS = 'input:enabled, textarea:enabled, select:enabled, [role="tab"][aria-selected="true"]';

export function ModalDialog({ title, size = 'normal', onClose, children }: Props) {
  const titleId = useId();
  // The owner closes it: instead of closing, a dialog may show a confirmation.
  const store = useDialogStore({
    open: true,
    setOpen: (open) => {
      if (!open) onClose?.();
    },
  });
  return (
    <Dialog
      store={store}
      // Other scripts of the page look for this element; everything behind it is inert.
      render={<dialog open />}
      className={`modal modal-${size}`}
      aria-labelledby={titleId}
      backdrop={<div className="modal-backdrop" />}
      hideOnInteractOutside={false}
      preventBodyScroll={false}
      // The focus is moved synchronously when the dialog opens or closes, see below.
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

/**
 * The content, which takes the focus as soon as it is rendered, so that the next key does not reach elements behind it.
 */
function Inside({ title, titleId, closes, children }: InsideProps) {
  const header = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const dialog = header.current?.closest('dialog');
    if (dialog === null || dialog === undefined) return;
    const opener = document.activeElement;
    // The element that the content designates, or else its first control, except the close button; not on touch
    // screens, which would open the keyboard.
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
