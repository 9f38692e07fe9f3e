import { interfaceQueuesView } from '../../view/queues.js';
import type { MenuModule } from '../module.js';

export const interfaceQueue: MenuModule = {
  path: '/queue/interface',
  live: (menu, { store, live }) => interfaceQueuesView(menu, store, live),
};
