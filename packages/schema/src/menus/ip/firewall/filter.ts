import { filterMenu } from '../../../mixins/filter-rules.js';

/** Rules of IPv4 that let packets pass or drop them. */
export const firewallFilter = filterMenu('ip');
