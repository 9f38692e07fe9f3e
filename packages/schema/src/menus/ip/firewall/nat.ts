import { natMenu } from '../../../mixins/nat-rules.js';

/** Rules of IPv4 that translate addresses and ports of connections. */
export const firewallNat = natMenu('ip');
