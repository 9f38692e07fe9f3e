import type { ReactNode } from 'react';

/** The page that is shown instead of the desktop. */
export const LoginBox = ({ children }: { readonly children: ReactNode }) => (
  <main className="login">
    <div className="login-box">
      <h1>
        <img src="/icon.svg" alt="" width="28" height="28" />
        Tollway
      </h1>
      {children}
    </div>
  </main>
);
