import { compileQueues } from '../../compiler/queues.js';
import { checkSimpleQueue } from '../../config/checks/queues.js';
import { counterCommands } from '../../rest/commands/counters.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import { queuesView, SIMPLE_VALUES } from '../../view/queues.js';
import type { MenuModule } from '../module.js';

export const simpleQueue: MenuModule = {
  path: '/queue/simple',
  compile: (context) => ({ 'simple-queues': context.once(compileQueues).simple }),
  check: checkSimpleQueue,
  keys: [nameOf],
  view: (menu, { store, live, hints }) => queuesView(menu, store, live, hints, SIMPLE_VALUES),
  commands: counterCommands('reset-queue-counters'),
};
