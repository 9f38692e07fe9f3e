import { checkQueueType } from '../../config/checks/queues.js';
import type { MenuModule } from '../module.js';

export const queueType: MenuModule = {
  path: '/queue/type',
  check: checkQueueType,
};
