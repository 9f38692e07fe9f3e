import { defineMenu } from '../../define.js';
import { routeMenu } from '../../mixins/route.js';

/** Routes of IPv4. */
export const ipRoute = defineMenu({
  path: '/ip/route',
  title: 'Route List',
  singular: 'Route',
  tree: ['IP', 'Routes'],
  help: 'IPv4 routes: static ones, connected ones, and those of routing programs.',
  ...routeMenu('ip'),
});
