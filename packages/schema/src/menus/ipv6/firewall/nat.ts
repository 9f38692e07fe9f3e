import { natMenu } from '../../../mixins/nat-rules.js';

/** Rules of IPv6 that translate addresses and ports of connections. */
export const ipv6Nat = natMenu('ipv6');
