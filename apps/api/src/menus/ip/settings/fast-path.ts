import { fastPathView } from '../../../view/fast-path.js';
import type { MenuModule } from '../../module.js';

export const ipFastPath: MenuModule = {
  path: '/ip/settings/fast-path',
  view: (_, { live }) => fastPathView(live),
};
