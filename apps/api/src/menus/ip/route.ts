import { compileRoutes } from '../../compiler/routes.js';
import { checkRoute } from '../../config/checks/routes.js';
import { routesView } from '../../view/routes.js';
import type { MenuModule } from '../module.js';

export const ipRoute: MenuModule = {
  path: '/ip/route',
  compile: (context) => ({ routes: compileRoutes(context) }),
  check: checkRoute,
  live: (menu, { store, live }) => routesView(menu, store, live),
};
