import type { Kind } from '../kind.js';
import type { Prop } from '../menu.js';
import { oneOf } from '../props/enum.js';
import { mac } from '../props/mac.js';
import { reference } from '../props/reference.js';
import { readOnly } from './read-only.js';
import { vrf } from './vrf.js';

/**
 * Properties of the neighbours of a family.
 * @param address kind of the addresses, and what they are called
 * @param resolution what finds their link-layer addresses
 */
export const neighborProps = (
  address: { readonly kind: Kind; readonly label: string },
  resolution: string,
): Readonly<Record<'address' | 'mac-address' | 'interface' | 'status' | 'vrf', Prop>> => ({
  address: {
    ...address,
    help: 'Address of the neighbour.',
    tab: 'General',
    required: true,
    dataplane: true,
  },
  'mac-address': {
    kind: mac,
    label: 'MAC Address',
    help: 'Link-layer address of the neighbour.',
    tab: 'General',
    required: true,
    dataplane: true,
  },
  interface: {
    kind: reference('/interface', 'name'),
    label: 'Interface',
    help: 'Interface that the neighbour is on.',
    tab: 'General',
    required: true,
    dataplane: true,
  },
  status: readOnly(
    oneOf(['incomplete', 'reachable', 'stale', 'probe', 'failed', 'permanent']),
    'Status',
    `State of ${resolution}.`,
  ),
  ...vrf('VRF of the interface that the neighbour is on.'),
});

/** The part of their declarations that lists of neighbours have: learned ones and static entries. */
export const neighborList = {
  kind: 'list',
  columns: ['address', 'mac-address', 'interface', 'status', 'comment'],
  tabs: ['General', 'Status'],
  key: ['address', 'interface'],
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  refreshMs: 1_000,
  dynamicRemovable: 'relearned',
  source: 'union',
} as const;
