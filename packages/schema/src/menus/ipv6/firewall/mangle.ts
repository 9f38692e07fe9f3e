import { mangleMenu } from '../../../mixins/mangle.js';

/** Rules of IPv6 that mark packets and connections, and change their headers. */
export const ipv6Mangle = mangleMenu('ipv6');
