/** Asks for the password over the page when a session has ended, so that unsaved changes are kept. */
import { DialogDismiss } from '@ariakit/react';
import { useEffect, useRef } from 'react';
import { forgetSession } from '../api/session.ts';
import { ModalDialog } from '../ui/ModalDialog.tsx';
import { PasswordForm } from './Login.tsx';

export function LoginAgain({ name }: { readonly name: string }) {
  return (
    <ModalDialog title="Log in again" size="small">
      <Form name={name} />
    </ModalDialog>
  );
}

function Form({ name }: { readonly name: string }) {
  const box = useRef<HTMLDivElement>(null);
  // The user name is already filled in, so that the password takes the focus. On touch screens this would open the
  // keyboard.
  useEffect(() => {
    if (window.matchMedia('(pointer: coarse)').matches) return;
    box.current?.querySelector<HTMLInputElement>('input[name="password"]')?.focus();
  }, []);
  return (
    <div ref={box} className="login-again">
      <p>
        The session of {name} has ended. Log in again, and what is open here stays as it is. Another user begins with an
        empty desktop: what was not saved is lost then.
      </p>
      <PasswordForm name={name} />
      <DialogDismiss className="button" onClick={forgetSession}>
        Leave without saving
      </DialogDismiss>
    </div>
  );
}
