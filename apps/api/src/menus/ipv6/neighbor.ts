import { compileNeighbors } from '../../compiler/neighbors.js';
import { neighborCheck } from '../../config/checks/neighbors.js';
import { findLearned } from '../../rest/learned-neighbors.js';
import { readNeighbors } from '../../view/neighbors.js';
import type { MenuModule } from '../module.js';

export const ipv6Neighbor: MenuModule = {
  path: '/ipv6/neighbor',
  compile: (context) => ({ neighbors: compileNeighbors(context, '/ipv6/neighbor') }),
  check: neighborCheck('ipv6'),
  liveRows: ({ live }) => readNeighbors(live, 'ipv6'),
  dynamic: { find: findLearned('ipv6') },
};
