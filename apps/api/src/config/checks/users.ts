import { type FieldError, fault, type ProposedRow } from '../proposed-row.js';

/** `/user`. That names are unique is checked where users are stored. */
export function checkUser({ values }: ProposedRow): FieldError | undefined {
  // RFC 7617 §2: Basic authentication takes what is before the first colon as the name.
  if (!values.name?.includes(':')) return undefined;
  return fault('name', `value of name: ${values.name} holds a colon; give a login name without one`);
}
