import { coresView } from '../../../view/resource.js';
import type { MenuModule } from '../../module.js';

export const systemResourceCpu: MenuModule = {
  path: '/system/resource/cpu',
  view: (_, { cpuLoad }) => coresView(cpuLoad),
};
