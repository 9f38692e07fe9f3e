/** Page that is shown instead of the login while the router's management does not work. */
import { useEffect } from 'react';
import { refreshSession, useSession } from '../api/session.ts';
import { FormError } from '../ui/FormError.tsx';
import { LoginBox } from './LoginBox.tsx';

/** Interval of requests whether the router works again, ms. */
const RETRY_MS = 3_000;

export function Unavailable() {
  const problem = useSession((session) => (session.phase === 'unavailable' ? session.problem : undefined));
  useEffect(() => {
    const timer = setInterval(() => void refreshSession(), RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <LoginBox>
      <FormError>{problem}</FormError>
      <p>The router goes on forwarding by its last configuration. This page goes on by itself when it can.</p>
    </LoginBox>
  );
}
