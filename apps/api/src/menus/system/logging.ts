import { idleLogRules } from '../../compiler/logging.js';
import { checkLogRule } from '../../config/checks/logging.js';
import type { MenuModule } from '../module.js';

export const systemLogging: MenuModule = {
  path: '/system/logging',
  check: checkLogRule,
  // The data plane gives its messages to the API, which has the rules: nothing of them is compiled.
  compile: (context) => {
    idleLogRules(context);
    return {};
  },
};
