import { compileQueues } from '../../compiler/queues.js';
import { interfaceQueuesView } from '../../view/queues.js';
import type { MenuModule } from '../module.js';

export const interfaceQueue: MenuModule = {
  path: '/queue/interface',
  compile: (context) => ({ 'interface-queues': context.once(compileQueues).interfaces }),
  view: (menu, { store, live }) => interfaceQueuesView(menu, store, live),
};
