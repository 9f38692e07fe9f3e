import type { MenuDeclaration, Prop } from '../menu.js';
import type { AddressFamily } from '../props/address-family.js';
import { FIREWALL_WINDOW, IPV6_FIREWALL_WINDOW } from '../windows.js';
import { comment } from './comment.js';
import { counters } from './counters.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from './disabled.js';
import {
  type AddressListMenu,
  firewallMatch,
  icmpMatch,
  ipv6FirewallMatch,
  ipv6Match,
  logging,
} from './firewall-match.js';

/** Properties that all menus of firewall rules have, in addition to conditions and actions. */

/** Properties of every rule after those of its action, in the order of the dialog. */
export const ruleState: Readonly<Record<string, Prop>> = {
  ...logging,
  ...counters(),
  ...disabled(),
  ...comment(),
  ...invalid('Statistics'),
  ...dynamic('Statistics'),
};

/** Columns of the conditions that most rules have. */
export const MATCH_COLUMNS = [
  'src-address',
  'dst-address',
  'protocol',
  'src-port',
  'dst-port',
  'in-interface',
  'out-interface',
  'in-interface-list',
  'out-interface-list',
  'src-address-list',
  'dst-address-list',
] as const;

/** What the rules of a family have: conditions on addresses, lists and interfaces, on ICMP, and their window. */
export const FIREWALL: Readonly<
  Record<
    AddressFamily,
    {
      readonly match: Readonly<Record<string, Prop>>;
      readonly icmpMatch: Readonly<Record<string, Prop>>;
      readonly lists: AddressListMenu;
    }
  >
> = {
  ip: { match: firewallMatch, icmpMatch, lists: '/ip/firewall/address-list' },
  ipv6: { match: ipv6FirewallMatch, icmpMatch: ipv6Match, lists: '/ipv6/firewall/address-list' },
};

/** Names of a menu of rules: those of IPv4 are called so without the family. */
interface RuleNames {
  readonly title: string;
  readonly singular: string;
  /** What the rules do, after `Rules that`. */
  readonly help: string;
}

/** The part of its declaration that a list of rules has beside properties and columns. */
export const ruleMenu = (
  family: AddressFamily,
  path: string,
  { title, singular, help }: RuleNames,
): Pick<
  MenuDeclaration,
  | 'path'
  | 'title'
  | 'singular'
  | 'window'
  | 'tree'
  | 'help'
  | 'kind'
  | 'flags'
  | 'tabs'
  | 'commands'
  | 'refreshMs'
  | 'source'
> => ({
  path,
  ...ruleList,
  ...(family === 'ip'
    ? {
        title,
        singular,
        window: { tabOf: FIREWALL_WINDOW },
        tree: ['IP', 'Firewall', title],
        help: `Rules that ${help}`,
      }
    : {
        title: `IPv6 ${title}`,
        singular: `IPv6 ${singular}`,
        window: { tabOf: IPV6_FIREWALL_WINDOW },
        tree: ['IPv6', 'Firewall', title],
        help: `Rules of IPv6 that ${help}`,
      }),
});

const ruleList = {
  kind: 'ordered',
  flags: [disabledFlag, invalidFlag, dynamicFlag],
  tabs: ['General', 'Advanced', 'Extra', 'Action', 'Statistics'],
  commands: [
    'add',
    'set',
    'reset',
    'remove',
    'unset',
    'enable',
    'disable',
    'comment',
    'move',
    'reset-counters',
    'reset-counters-all',
  ],
  refreshMs: 1_000,
  source: 'stored',
} as const;
