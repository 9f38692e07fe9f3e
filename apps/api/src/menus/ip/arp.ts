import { compileNeighbors } from '../../compiler/neighbors.js';
import { neighborCheck } from '../../config/checks/neighbors.js';
import { findLearned } from '../../rest/learned-neighbors.js';
import { readNeighbors } from '../../view/neighbors.js';
import type { MenuModule } from '../module.js';

export const ipArp: MenuModule = {
  path: '/ip/arp',
  compile: (context) => ({ neighbors: compileNeighbors(context, '/ip/arp') }),
  check: neighborCheck('ip'),
  liveRows: ({ live }) => readNeighbors(live, 'ip'),
  dynamic: { find: findLearned('ip') },
};
