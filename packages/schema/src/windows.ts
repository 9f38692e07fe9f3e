/** Windows that several menus share. */

import type { TabbedWindow } from './menu.js';

export const INTERFACE_WINDOW: TabbedWindow = { title: 'Interface List', tree: ['Interfaces'] };
export const FIREWALL_WINDOW: TabbedWindow = { title: 'Firewall', tree: ['IP', 'Firewall'] };
export const IPV6_FIREWALL_WINDOW: TabbedWindow = { title: 'IPv6 Firewall', tree: ['IPv6', 'Firewall'] };
export const IP_SETTINGS_WINDOW: TabbedWindow = { title: 'IP Settings', tree: ['IP', 'Settings'] };
export const ROUTING_WINDOW: TabbedWindow = { title: 'Routing', tree: ['Routing'] };
export const QUEUE_WINDOW: TabbedWindow = { title: 'Queue List', tree: ['Queues'] };
export const LOGGING_WINDOW: TabbedWindow = { title: 'Logging', tree: ['System', 'Logging'] };
