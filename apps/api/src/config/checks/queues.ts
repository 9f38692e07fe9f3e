import { MAX_QUEUE_LEVELS } from '@tollway/dataplane-agent/records';
import { builtinNames } from '../../snapshot/builtin.js';
import { interfaceNamed } from '../../snapshot/interfaces.js';
import { type KeyOf, nameOf } from '../../snapshot/rows-by-key.js';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';

const parentOf: KeyOf = (values) => values.parent;

/** `/queue/simple` */
export function checkSimpleQueue(proposed: ProposedRow): FieldError | undefined {
  return checkName(proposed, 'none') ?? checkPlace(proposed);
}

/** `/queue/tree` */
export function checkTreeQueue(proposed: ProposedRow): FieldError | undefined {
  const { name } = proposed.values;
  if (name !== undefined && interfaceNamed(proposed.snapshot, name) !== undefined) {
    return fieldError(
      'name',
      `value of name: ${name} is an interface, and as a parent it would mean that; give another name`,
    );
  }
  return checkName(proposed, 'global') ?? checkPlace(proposed);
}

/** @param word means something else than a queue as a parent. */
function checkName({ values: { name }, others }: ProposedRow, word: string): FieldError | undefined {
  if (name === undefined) return undefined;
  if (name === word) {
    return fieldError('name', `value of name: ${name} has a meaning of its own as a parent; give another name`);
  }
  if (!others.has(nameOf, name)) return undefined;
  return fieldError('name', `failure: already have queue with such name: ${name} (value of name must be unique)`);
}

/** Refuses circles, and too many levels above and below. */
function checkPlace({ values: { name, parent }, given, before, others }: ProposedRow): FieldError | undefined {
  if (!given.has('parent')) return undefined;
  // Of a queue that is renamed at the same time the others still have the name that it had.
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

/** `/queue/type` */
export function checkQueueType({ menu, values, before, others }: ProposedRow): FieldError | undefined {
  const { name = '', kind } = values;
  const builtin = builtinNames(menu.path);
  if (before?.name !== undefined && before.name !== name && builtin.includes(before.name)) {
    return fieldError('name', `value of name: a builtin queue type keeps its name, ${before.name}`);
  }
  if (before?.name !== name && (builtin.includes(name) || others.has(nameOf, name))) {
    return fieldError(
      'name',
      `failure: already have queue type with such name: ${name} (value of name must be unique)`,
    );
  }
  if (kind !== 'red') return undefined;
  const number = (property: string) => Number(values[property] ?? menu.props[property]?.default);
  const [min, max, limit] = [number('red-min-threshold'), number('red-max-threshold'), number('red-limit')];
  if (min >= max) {
    return fieldError('red-max-threshold', `value of red-max-threshold: ${max} is not above red-min-threshold, ${min}`);
  }
  if (max > limit) {
    return fieldError('red-max-threshold', `value of red-max-threshold: ${max} is above red-limit, ${limit}`);
  }
  return undefined;
}
