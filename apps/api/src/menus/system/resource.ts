import { resourceView } from '../../view/resource.js';
import type { MenuModule } from '../module.js';

export const systemResource: MenuModule = {
  path: '/system/resource',
  view: (_, { cpuLoad, dataDir, live }) => resourceView(cpuLoad, dataDir, live),
};
