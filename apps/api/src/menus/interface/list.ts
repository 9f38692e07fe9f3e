import { checkInterfaceList } from '../../config/checks/interfaces.js';
import type { MenuModule } from '../module.js';

export const interfaceList: MenuModule = {
  path: '/interface/list',
  check: checkInterfaceList,
};
