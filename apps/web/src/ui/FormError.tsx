import type { ReactNode } from 'react';

/** What is wrong with a form as a whole; nothing while that is undefined. */
export const FormError = ({ children }: { readonly children: ReactNode }) =>
  children === undefined ? null : (
    <p className="form-error" role="alert">
      {children}
    </p>
  );
