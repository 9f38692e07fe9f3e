import { builtinNames } from '../builtin.js';
import { type Candidate, type FieldError, fault } from '../candidate.js';
import { nameOf } from '../rows-by-key.js';

/** `/queue/simple` */
export function checkSimpleQueue({ values: { name }, others }: Candidate): FieldError | undefined {
  if (name === undefined || !others.has(nameOf, name)) return undefined;
  return fault('name', `failure: already have queue with such name: ${name} (value of name must be unique)`);
}

/** `/queue/type` */
export function checkQueueType({ menu, values: { name = '' }, others }: Candidate): FieldError | undefined {
  if (!builtinNames(menu.path).includes(name) && !others.has(nameOf, name)) return undefined;
  return fault('name', `failure: already have queue type with such name: ${name} (value of name must be unique)`);
}
