/** Logging in, and setting the first password with the token that the router printed at its start. */
import { type FormEvent, useState } from 'react';
import { login, setUp, useSession } from '../api/session.ts';

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
    <main className="login">
      <div className="login-box">
        <h1>
          <img src="/icon.svg" alt="" width="28" height="28" />
          Tollway
        </h1>
        {session.problem !== undefined && (
          <p className="form-error" role="alert">
            {session.problem}
          </p>
        )}
        {session.setup ? <Setup token={token} /> : <PasswordForm name="admin" />}
      </div>
    </main>
  );
}

/** User, password and the button that logs in; `name`: the user who is proposed. */
export function PasswordForm({ name: proposed }: { readonly name: string }) {
  const [name, setName] = useState(proposed);
  const [password, setPassword] = useState('');
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await login(name, password);
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
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
      {error !== undefined && (
        <p className="form-error" role="alert">
          {error}
        </p>
      )}
      <button type="submit" className="button button-primary" aria-disabled={busy}>
        Log in
      </button>
    </form>
  );
}

function Setup({ token }: { readonly token: string | undefined }) {
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  if (token === undefined) {
    return (
      <p>
        This router has no password yet. Open the address that it printed when it started; it ends in{' '}
        <code>#setup=…</code> and lets you set one.
      </p>
    );
  }
  const setupWith = token;

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (busy) return;
    if (password.length < MIN_PASSWORD) {
      setError(`The password needs at least ${MIN_PASSWORD} characters.`);
      return;
    }
    if (password !== again) {
      setError('The two passwords differ.');
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await setUp(setupWith, password);
      window.history.replaceState(null, '', window.location.pathname);
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
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
      {error !== undefined && (
        <p className="form-error" role="alert">
          {error}
        </p>
      )}
      <button type="submit" className="button button-primary" aria-disabled={busy}>
        Set password
      </button>
    </form>
  );
}
