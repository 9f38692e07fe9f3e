/** New items that are needed often, with their characteristic values. The palette offers them by name. */

interface NewItemShortcut {
  readonly label: string;
  /** Additional search terms. */
  readonly words: string;
  /** Path of a menu. */
  readonly menu: string;
  /** Values of the new item; an empty one unfolds a field for the user to fill in. */
  readonly values: Readonly<Record<string, string>>;
}

export const newItemShortcuts: readonly NewItemShortcut[] = [
  {
    label: 'New masquerade rule',
    words: 'add nat srcnat share internet address',
    menu: '/ip/firewall/nat',
    values: { chain: 'srcnat', 'out-interface': '', action: 'masquerade' },
  },
  {
    label: 'New port forward',
    words: 'add nat dstnat dst-nat forwarding open server',
    menu: '/ip/firewall/nat',
    values: {
      chain: 'dstnat',
      protocol: 'tcp',
      'dst-port': '',
      action: 'dst-nat',
      'to-addresses': '',
      'to-ports': '',
    },
  },
  {
    label: 'New drop rule',
    words: 'add firewall filter block deny forward',
    menu: '/ip/firewall/filter',
    values: { chain: 'forward', 'src-address': '', action: 'drop' },
  },
];
