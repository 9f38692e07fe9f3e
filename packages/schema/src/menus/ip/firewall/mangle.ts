import { mangleMenu } from '../../../mixins/mangle.js';

/** Rules of IPv4 that mark packets and connections, and change their headers. */
export const firewallMangle = mangleMenu('ip');
