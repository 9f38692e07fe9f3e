import { PART } from '../../agent/queues.js';
import { compileQueues } from '../../compiler/queues.js';
import { checkQueueParent } from '../../config/checks/queues.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { counterCommands } from '../../rest/commands/counters.js';
import { interfaceNamed } from '../../snapshot/interfaces.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import { countedQueues, singleValues } from '../../view/queues.js';
import type { MenuModule } from '../module.js';

function checkTreeQueue(proposed: ProposedRow): FieldError | undefined {
  const { name } = proposed.values;
  if (name !== undefined && interfaceNamed(proposed.snapshot, name) !== undefined) {
    return fieldError(
      'name',
      `value of name: ${name} is an interface, and as a parent it would mean that; give another name`,
    );
  }
  return checkQueueParent(proposed);
}

export const queueTree: MenuModule = {
  path: '/queue/tree',
  compile: (context) => ({ 'tree-queues': context.once(compileQueues).tree }),
  check: checkTreeQueue,
  keys: [nameOf],
  liveRows: ({ live, queueFindings }) => countedQueues(live, queueFindings, singleValues(PART.whole)),
  commands: counterCommands('reset-queue-counters'),
};
