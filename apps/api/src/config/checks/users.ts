import { type Candidate, type FieldError, fault } from '../candidate.js';

/** `/user` */
export function checkUser({ values, others }: Candidate): FieldError | undefined {
  if (!others.some((row) => row.values.name === values.name)) return undefined;
  return fault('name', `failure: already have user with such name: ${values.name} (value of name must be unique)`);
}
