/** Login, and setting the first password with the token that the router printed at its start. */
import { type FormEvent, useState } from 'react';
import { login, setUp, useSession } from '../api/session.ts';
import { FormError } from '../ui/FormError.tsx';
import { messageOf } from '../ui/message-of.ts';
import { LoginBox } from './LoginBox.tsx';

/** The token of `#setup=…` in the address; undefined when there is none. */
function setupToken(hash: string): string | undefined {
  const token = new URLSearchParams(hash.replace(/^#/, '')).get('setup');
  return token === null || token === '' ? undefined : token;
}

const MIN_PASSWORD = 8;

export function Login() {
  const session = useSession();
  const [token] = useState(() => setupToken(window.location.hash));
  if (session.phase !== 'out') return null;
  return (
    <LoginBox>
      <FormError>{session.problem}</FormError>
      {session.setup ? <Setup token={token} /> : <PasswordForm name="admin" />}
    </LoginBox>
  );
}

/** State of a form with one button; its error is shown until the form is sent again. */
function useSending() {
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  const submit = (send: () => Promise<void>) => (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    send().catch((problem: unknown) => {
      setError(messageOf(problem));
      setBusy(false);
    });
  };

  return { error, busy, submit };
}

/** Fields for user and password, and the login button. `name`: proposed user. */
export function PasswordForm({ name: proposed }: { readonly name: string }) {
  const [name, setName] = useState(proposed);
  const [password, setPassword] = useState('');
  const { error, busy, submit } = useSending();

  return (
    <form onSubmit={submit(() => login(name, password))}>
      <label>
        User
        <input type="text" name="name" autoComplete="username" value={name} onChange={(e) => setName(e.target.value)} />
      </label>
      <label>
        Password
        <input
          type="password"
          name="password"
          autoComplete="current-password"
          // biome-ignore lint/a11y/noAutofocus: the page has this one purpose
          autoFocus
          value={password}
          onChange={(e) => setPassword(e.target.value)}
        />
      </label>
      <FormError>{error}</FormError>
      <button type="submit" className="button button-primary" aria-disabled={busy}>
        Log in
      </button>
    </form>
  );
}

function Setup({ token }: { readonly token: string | undefined }) {
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const { error, busy, submit } = useSending();

  if (token === undefined) {
    return (
      <p>
        This router has no password yet. Open the address that it printed when it started; it ends in{' '}
        <code>#setup=…</code> and lets you set one.
      </p>
    );
  }
  const setupWith = token;

  async function send() {
    if (password.length < MIN_PASSWORD) throw new Error(`The password needs at least ${MIN_PASSWORD} characters.`);
    if (password !== again) throw new Error('The two passwords differ.');
    await setUp(setupWith, password);
    window.history.replaceState(null, '', window.location.pathname);
  }

  return (
    <form onSubmit={submit(send)}>
      <p>Set the password of the user admin.</p>
      <input type="text" name="name" autoComplete="username" value="admin" readOnly hidden />
      <label>
        New password
        <input
          type="password"
          autoComplete="new-password"
          // biome-ignore lint/a11y/noAutofocus: the page has this one purpose
          autoFocus
          value={password}
          onChange={(e) => setPassword(e.target.value)}
        />
      </label>
      <label>
        Confirm password
        <input type="password" autoComplete="new-password" value={again} onChange={(e) => setAgain(e.target.value)} />
      </label>
      <FormError>{error}</FormError>
      <button type="submit" className="button button-primary" aria-disabled={busy}>
        Set password
      </button>
    </form>
  );
}
