import { settingsView, trackingFigures } from '../../../../view/settings.js';
import type { MenuModule } from '../../../module.js';

export const connectionTracking: MenuModule = {
  path: '/ip/firewall/connection/tracking',
  live: (menu, { store, live }) => settingsView(menu, store, live, trackingFigures),
};
