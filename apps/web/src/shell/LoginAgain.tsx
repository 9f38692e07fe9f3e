/** Asks for the password over the page when a session has ended, so that nothing that was being edited is lost. */
import { forgetSession } from '../api/session.ts';
import { ModalDialog } from '../ui/ModalDialog.tsx';
import { PasswordForm } from './Login.tsx';

export function LoginAgain({ name }: { readonly name: string }) {
  return (
    <ModalDialog title="Log in again" size="small">
      <div className="login-again">
        <p>The session has ended. What is open here stays as it is.</p>
        <PasswordForm name={name} />
        <button type="button" className="button" onClick={forgetSession}>
          Leave without saving
        </button>
      </div>
    </ModalDialog>
  );
}
