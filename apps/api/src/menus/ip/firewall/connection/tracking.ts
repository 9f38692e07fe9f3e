import { compileTracking } from '../../../../compiler/settings.js';
import { settingsView, trackingFigures } from '../../../../view/settings.js';
import type { MenuModule } from '../../../module.js';

export const connectionTracking: MenuModule = {
  path: '/ip/firewall/connection/tracking',
  compile: (context) => ({ tracking: compileTracking(context) }),
  view: (menu, { store, live }) => settingsView(menu, store, live, trackingFigures),
};
