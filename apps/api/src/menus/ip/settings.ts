import { ipFigures, settingsView } from '../../view/settings.js';
import type { MenuModule } from '../module.js';

export const ipSettings: MenuModule = {
  path: '/ip/settings',
  live: (menu, { store, live }) => settingsView(menu, store, live, ipFigures),
};
