/** Built-in chains of the firewall, through which packets enter a table, by table. */
export const HOOKS = {
  filter: ['input', 'forward', 'output'],
  nat: ['srcnat', 'dstnat'],
  mangle: ['prerouting', 'input', 'forward', 'output', 'postrouting'],
} as const;

export type Table = keyof typeof HOOKS;

/** Address family of rules: the first part of the path of their menu. */
export type Family = 'ip' | 'ipv6';
