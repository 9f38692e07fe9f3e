import { writeLog } from '../rest/commands/log.js';
import { logView } from '../view/log.js';
import type { MenuModule } from './module.js';

export const log: MenuModule = {
  path: '/log',
  view: (_, sources) => logView(sources.log),
  commands: {
    debug: (call) => writeLog(call, 'debug'),
    info: (call) => writeLog(call, 'info'),
    warning: (call) => writeLog(call, 'warning'),
    error: (call) => writeLog(call, 'error'),
  },
};
