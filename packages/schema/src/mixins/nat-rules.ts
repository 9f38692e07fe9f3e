import { defineMenu } from '../define.js';
import type { Kind } from '../kind.js';
import type { Menu, Prop } from '../menu.js';
import type { AddressFamily } from '../props/address-family.js';
import { bool } from '../props/bool.js';
import { intRange } from '../props/int-range.js';
import { ipRange } from '../props/ip-range.js';
import { ipv6AddressRange } from '../props/ipv6-range.js';
import { action, chain, LIST_ACTIONS, markMatch, rateMatch } from './firewall-match.js';
import { FIREWALL, MATCH_COLUMNS, ruleMenu, ruleState } from './firewall-rule.js';

/** The new addresses, which RouterOS calls otherwise in IPv6. */
const target: Readonly<Record<AddressFamily, Readonly<Record<string, Prop>>>> = {
  ip: { 'to-addresses': newAddresses(ipRange, 'To Addresses') },
  ipv6: { 'to-address': newAddresses(ipv6AddressRange, 'To Address') },
};

function newAddresses(kind: Kind, label: string): Prop {
  return {
    kind,
    label,
    help: 'New address, or a range to choose from; with netmap a prefix, in which the host bits stay.',
    tab: 'Action',
    unset: true,
    when: { prop: 'action', values: ['src-nat', 'dst-nat', 'netmap'] },
    dataplane: true,
  };
}

/** Rules of a family that translate addresses and ports of connections. */
export function natMenu(family: AddressFamily): Menu {
  const path = `/${family}/firewall/nat`;
  const { match, icmpMatch, lists } = FIREWALL[family];
  return defineMenu({
    ...ruleMenu(family, path, {
      title: 'NAT',
      singular: 'NAT Rule',
      help: 'translate addresses; the first packet of a connection decides for all of it.',
    }),
    props: {
      ...chain(path, ['srcnat', 'dstnat'], 'srcnat'),
      ...match,
      ...markMatch,
      ...icmpMatch,
      ...rateMatch,
      ...action(
        path,
        [
          'accept',
          'jump',
          'return',
          'log',
          'passthrough',
          ...LIST_ACTIONS,
          'masquerade',
          'src-nat',
          'dst-nat',
          'redirect',
          'netmap',
        ],
        lists,
      ),
      ...target[family],
      'to-ports': {
        kind: intRange({ min: 0, max: 65_535 }),
        label: 'To Ports',
        help: 'New port, or a range to choose from. Needs protocol tcp or udp.',
        tab: 'Action',
        unset: true,
        when: { prop: 'action', values: ['masquerade', 'src-nat', 'dst-nat', 'redirect', 'netmap'] },
        dataplane: true,
      },
      'randomise-ports': {
        kind: bool,
        label: 'Randomise Ports',
        help: 'Choose the new source port at random.',
        tab: 'Action',
        unset: true,
        when: { prop: 'action', values: ['masquerade', 'src-nat'] },
        dataplane: true,
      },
      ...ruleState,
    },
    columns: ['action', 'chain', ...MATCH_COLUMNS, ...Object.keys(target[family]), 'to-ports', 'bytes', 'packets'],
  });
}
