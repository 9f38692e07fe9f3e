import { compileQueues } from '../../compiler/queues.js';
import { checkTreeQueue } from '../../config/checks/queues.js';
import { counterCommands } from '../../rest/commands/counters.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import { queuesView, TREE_VALUES } from '../../view/queues.js';
import type { MenuModule } from '../module.js';

export const queueTree: MenuModule = {
  path: '/queue/tree',
  compile: (context) => ({ 'tree-queues': context.once(compileQueues).tree }),
  check: checkTreeQueue,
  keys: [nameOf],
  view: (menu, { store, live, hints }) => queuesView(menu, store, live, hints, TREE_VALUES),
  commands: counterCommands('reset-queue-counters'),
};
