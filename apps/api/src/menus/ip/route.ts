import { compileRoutes } from '../../compiler/routes.js';
import { routeCheck } from '../../config/checks/routes.js';
import { readRoutes } from '../../view/routes.js';
import type { MenuModule } from '../module.js';

export const ipRoute: MenuModule = {
  path: '/ip/route',
  compile: (context) => ({ routes: compileRoutes(context, 'ip') }),
  check: routeCheck('ip'),
  liveRows: ({ live }) => readRoutes(live, 'ip'),
};
