import { checkArp } from '../../config/checks/addresses.js';
import { findLearned } from '../../rest/commands/neighbors.js';
import { arpView } from '../../view/arp.js';
import type { MenuModule } from '../module.js';

export const ipArp: MenuModule = {
  path: '/ip/arp',
  check: checkArp,
  live: (menu, { store, live }) => arpView(menu, store, live),
  dynamic: { find: findLearned },
};
