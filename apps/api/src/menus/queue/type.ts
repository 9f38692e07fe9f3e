import { compileQueues } from '../../compiler/queues.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import type { MenuModule } from '../module.js';

function checkQueueType({ menu, values }: ProposedRow): FieldError | undefined {
  if (values.kind !== 'red') return undefined;
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
