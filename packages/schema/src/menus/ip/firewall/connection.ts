import { connectionMenu } from '../../../mixins/connection.js';

/** Live table of the tracked connections of IPv4. */
export const firewallConnection = connectionMenu('ip');
