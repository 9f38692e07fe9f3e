import type { Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { FormError } from '../ui/FormError.tsx';
import { type Edits, unsavedText } from './form-model.ts';

interface Props {
  readonly menu: Menu;
  readonly base: Row;
  readonly edits: Edits;
}

/** Note over a form that may only be looked at since: what was being edited in it, so that it is not lost without a word. */
export function UnsavedNote({ menu, base, edits }: Props) {
  return <FormError>{unsavedText(menu, base, edits)}</FormError>;
}
