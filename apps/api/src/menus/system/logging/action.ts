import { checkLogAction } from '../../../config/checks/logging.js';
import { clearLogActions } from '../../../rest/commands/log-actions.js';
import type { MenuModule } from '../../module.js';

export const systemLoggingAction: MenuModule = {
  path: '/system/logging/action',
  check: checkLogAction,
  commands: { clear: clearLogActions },
};
