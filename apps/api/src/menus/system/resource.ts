import { resourceView } from '../../view/resource.js';
import type { MenuModule } from '../module.js';

export const systemResource: MenuModule = {
  path: '/system/resource',
  live: (_, { processor, dataDir, live }) => resourceView(processor, dataDir, live),
};
