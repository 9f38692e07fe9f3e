import { connectionMenu } from '../../../mixins/connection.js';

/** Live table of the tracked connections of IPv6. */
export const ipv6Connection = connectionMenu('ipv6');
