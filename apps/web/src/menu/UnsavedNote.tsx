import type { Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { FormError } from '../ui/FormError.tsx';
import { type Edits, unsavedText } from './form-model.ts';

interface Props {
  readonly menu: Menu;
  readonly base: Row;
  readonly edits: Edits;
}

/** Note above a form that has become read-only: the unsaved changes, so that they are not lost silently. */
export function UnsavedNote({ menu, base, edits }: Props) {
  return <FormError>{unsavedText(menu, base, edits)}</FormError>;
}
