import type { MenuModule } from '../module.js';

/** What it holds is compiled with `/ip/settings`: they are one section of the configuration. */
export const ipv6Settings: MenuModule = { path: '/ipv6/settings' };
