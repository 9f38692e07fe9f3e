import { compileRoutes } from '../../compiler/routes.js';
import { routeCheck } from '../../config/checks/routes.js';
import { readRoutes } from '../../view/routes.js';
import type { MenuModule } from '../module.js';

export const ipv6Route: MenuModule = {
  path: '/ipv6/route',
  compile: (context) => ({ routes: compileRoutes(context, 'ipv6') }),
  check: routeCheck('ipv6'),
  liveRows: ({ live }) => readRoutes(live, 'ipv6'),
};
