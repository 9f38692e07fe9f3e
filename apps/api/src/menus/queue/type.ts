import { compileQueues } from '../../compiler/queues.js';
import { checkQueueType } from '../../config/checks/queues.js';
import type { MenuModule } from '../module.js';

export const queueType: MenuModule = {
  path: '/queue/type',
  compile: (context) => ({ 'queue-types': context.once(compileQueues).types }),
  check: checkQueueType,
};
