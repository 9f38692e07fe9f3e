import { MAX_QUEUE_LEVELS } from '@tollway/dataplane-agent/records';
import { type KeyOf, nameOf } from '../../snapshot/rows-by-key.js';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';

const parentOf: KeyOf = (values) => values.parent;

/** Refuses circular parents, and more levels above and below the queue than the data plane supports. */
export function checkQueueParent({
  values: { name, parent },
  given,
  before,
  others,
}: ProposedRow): FieldError | undefined {
  if (!given.has('parent')) return undefined;
  // While a queue is being renamed, the other queues still reference its former name.
  const names = [...new Set([name, before?.name])].filter((text) => text !== undefined);
  const isOwn = (text: string | undefined) => text !== undefined && names.includes(text);
  const queueNamed = (text: string | undefined) => (text === undefined ? undefined : others.first(nameOf, text));
  let above = 1;
  for (let next = queueNamed(parent); next !== undefined; next = queueNamed(next.values.parent)) {
    above += 1;
    if (above > MAX_QUEUE_LEVELS) return tooDeep();
    if (isOwn(next.values.parent)) return circle(parent, name);
  }
  if (isOwn(parent)) return circle(parent, name);
  let level = names.flatMap((text) => others.having(parentOf, text));
  for (; level.length > 0; level = level.flatMap((row) => others.having(parentOf, row.values.name ?? ''))) {
    above += 1;
    if (above > MAX_QUEUE_LEVELS) return tooDeep();
  }
  return undefined;
}

const tooDeep = (): FieldError =>
  fieldError('parent', `value of parent: queues nest at most ${MAX_QUEUE_LEVELS} levels deep; give a queue further up`);

export const circle = (parent: string | undefined, name: string | undefined): FieldError =>
  fieldError('parent', `value of parent: ${parent} leads back to ${name}; give a queue that is not below this one`);
