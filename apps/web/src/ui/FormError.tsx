import type { ReactNode } from 'react';

/** Error of a form as a whole; nothing while it is undefined. */
export const FormError = ({ children }: { readonly children: ReactNode }) =>
  children === undefined ? null : (
    <p className="form-error" role="alert">
      {children}
    </p>
  );
