import { queueLintView } from '../../view/queue-lint.js';
import type { MenuModule } from '../module.js';

export const queueLint: MenuModule = {
  path: '/queue/lint',
  live: (_, { hints }) => queueLintView(hints),
};
