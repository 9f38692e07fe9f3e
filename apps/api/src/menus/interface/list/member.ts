import { checkInterfaceListMember } from '../../../config/checks/interfaces.js';
import type { MenuModule } from '../../module.js';

export const interfaceListMember: MenuModule = {
  path: '/interface/list/member',
  check: checkInterfaceListMember,
};
