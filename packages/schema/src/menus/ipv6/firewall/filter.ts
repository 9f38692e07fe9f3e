import { filterMenu } from '../../../mixins/filter-rules.js';

/** Rules of IPv6 that let packets pass or drop them. */
export const ipv6Filter = filterMenu('ipv6');
