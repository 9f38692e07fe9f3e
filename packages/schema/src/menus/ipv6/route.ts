import { defineMenu } from '../../define.js';
import { routeMenu } from '../../mixins/route.js';

/** Routes of IPv6. */
export const ipv6Route = defineMenu({
  path: '/ipv6/route',
  title: 'IPv6 Route List',
  singular: 'IPv6 Route',
  tree: ['IPv6', 'Routes'],
  help: 'IPv6 routes: static ones, connected ones, and those of routing programs.',
  ...routeMenu('ipv6'),
});
