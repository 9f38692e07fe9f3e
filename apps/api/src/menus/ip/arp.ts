import { compileNeighbors } from '../../compiler/neighbors.js';
import { checkArp } from '../../config/checks/addresses.js';
import { findLearned } from '../../rest/commands/neighbors.js';
import { arpView } from '../../view/arp.js';
import type { MenuModule } from '../module.js';

export const ipArp: MenuModule = {
  path: '/ip/arp',
  compile: (context) => ({ neighbors: compileNeighbors(context) }),
  check: checkArp,
  live: (menu, { store, live }) => arpView(menu, store, live),
  dynamic: { find: findLearned },
};
