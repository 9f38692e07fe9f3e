/** What is shown instead of the login while the router's management cannot work. */
import { useEffect } from 'react';
import { refreshSession, useSession } from '../api/session.ts';

/** How often it is asked whether it is over, ms. */
const AGAIN_MS = 3_000;

export function Unavailable() {
  const problem = useSession((session) => (session.phase === 'unavailable' ? session.problem : undefined));
  useEffect(() => {
    const timer = setInterval(() => void refreshSession(), AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main className="login">
      <div className="login-box">
        <h1>
          <img src="/icon.svg" alt="" width="28" height="28" />
          Tollway
        </h1>
        <p className="form-error" role="alert">
          {problem}
        </p>
        <p>The router goes on forwarding by its last configuration. This page goes on by itself when it can.</p>
      </div>
    </main>
  );
}
