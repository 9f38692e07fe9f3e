import { compileSettings } from '../../compiler/settings.js';
import { ipFigures, settingsView } from '../../view/settings.js';
import type { MenuModule } from '../module.js';

export const ipSettings: MenuModule = {
  path: '/ip/settings',
  compile: (context) => ({ settings: compileSettings(context) }),
  view: (menu, { store, live }) => settingsView(menu, store, live, ipFigures),
};
