import { compileQueues } from '../../compiler/queues.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { builtinNames } from '../../snapshot/builtin.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import type { MenuModule } from '../module.js';

function checkQueueType({ menu, values, before, others }: ProposedRow): FieldError | undefined {
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

export const queueType: MenuModule = {
  path: '/queue/type',
  compile: (context) => ({ 'queue-types': context.once(compileQueues).types }),
  check: checkQueueType,
};
