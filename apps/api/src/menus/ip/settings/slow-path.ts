import { slowPathView } from '../../../view/fast-path.js';
import type { MenuModule } from '../../module.js';

export const ipSlowPath: MenuModule = {
  path: '/ip/settings/slow-path',
  view: (_, { live }) => slowPathView(live),
};
