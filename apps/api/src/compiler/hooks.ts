/** Built-in chains of the firewall, through which packets enter a table, by table. */
export const HOOKS = {
  filter: ['input', 'forward', 'output'],
  nat: ['srcnat', 'dstnat'],
  mangle: ['prerouting', 'input', 'forward', 'output', 'postrouting'],
} as const;

export type Table = keyof typeof HOOKS;
