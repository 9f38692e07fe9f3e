import type { ReactNode } from 'react';
import { type Form, isSending } from './use-form.ts';

interface Props {
  readonly label: string;
  readonly form: Form;
  /** Handler of Escape, unless an element inside has handled it, such as an open list of choices. */
  readonly onEscape: (() => void) | undefined;
  readonly onSubmit: () => void;
  readonly onChange?: () => void;
  readonly children: ReactNode;
}

/** A form that fills its window, without the rows and commands of an item dialog. */
export function FormBox({ label, form, onEscape, onSubmit, onChange, children }: Props) {
  return (
    <div
      role="group"
      className="item-box"
      aria-label={label}
      data-sending={isSending(form) || undefined}
      data-unsaved={form.dirty || undefined}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented || onEscape === undefined) return;
        event.preventDefault();
        onEscape();
      }}
    >
      <form
        className="item-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
        onChange={onChange}
      >
        {children}
      </form>
    </div>
  );
}
