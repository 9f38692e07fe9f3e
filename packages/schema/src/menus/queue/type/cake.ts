import type { Kind } from '../../../kind.js';
import type { Prop } from '../../../menu.js';
import { bool } from '../../../props/bool.js';
import { bytes } from '../../../props/bytes.js';
import { oneOf } from '../../../props/enum.js';
import { fineDuration } from '../../../props/fine-duration.js';
import { int } from '../../../props/int.js';
import { configuredRate } from '../../../props/rate.js';
import { setOf } from '../../../props/set.js';

/** A setting of CAKE; its default applies when it is not set. */
const cake = (kind: Kind, label: string, help: string, standard?: string): Prop => ({
  kind,
  label,
  help,
  tab: 'Settings',
  ...(standard === undefined ? {} : { default: standard }),
  when: { prop: 'kind', values: ['cake'] },
  dataplane: true,
});

/** A setting that can be unset. */
const optional = (prop: Prop): Prop => ({ ...prop, unset: true });

/** Presets of framing and overhead; the second spelling is RouterOS's own. */
const CAKE_OVERHEAD_SCHEMES = [
  'raw',
  'convervative',
  'ipoa-vcmux',
  'ipoa-llcsnap',
  'bridged-vcmux',
  'bridged-llcsnap',
  'pppoa-vcmux',
  'pppoa-llc',
  'pppoe-vcmux',
  'pppoe-llcsnap',
  'pppoe-ptm',
  'bridged-ptm',
  'via-ethernet',
  'ethernet',
  'ether-vlan',
  'docsis',
] as const;

/** Presets of the round trip time. */
const CAKE_RTT_SCHEMES = [
  'none',
  'datacentre',
  'lan',
  'metro',
  'regional',
  'internet',
  'oceanic',
  'satellite',
  'interplanetary',
] as const;

/** Settings of queue types of kind `cake`. */
export const cakeSettings: Readonly<Record<string, Prop>> = {
  'cake-bandwidth': optional(
    cake(
      configuredRate,
      'Bandwidth',
      'Rate of its own shaper; 0 for none, as under a queue with max-limit. Of the queue of a port each worker has its own.',
      '0',
    ),
  ),
  'cake-autorate-ingress': optional(
    cake(bool, 'Autorate Ingress', 'Follow the rate at which packets arrive instead of the bandwidth.'),
  ),
  'cake-overhead': cake(
    int({ min: -64, max: 256, unit: 'bytes' }),
    'Overhead',
    'Bytes added to the IP length of every packet; may be negative.',
    '0',
  ),
  'cake-mpu': optional(
    cake(int({ min: 0, max: 256, unit: 'bytes' }), 'MPU', 'Least length that a packet is charged with.'),
  ),
  'cake-atm': cake(oneOf(['none', 'atm', 'ptm']), 'ATM', 'Framing of the link that is charged for.', 'none'),
  'cake-overhead-scheme': optional(
    cake(
      setOf(CAKE_OVERHEAD_SCHEMES, { spelled: { conservative: 'convervative' } }),
      'Overhead Scheme',
      'Presets of overhead, MPU and framing; their overheads add to that of Overhead.',
    ),
  ),
  'cake-rtt': cake(fineDuration({ minUs: 1 }), 'RTT', 'Round trip time that it is tuned for.', '100ms'),
  'cake-rtt-scheme': cake(
    oneOf(CAKE_RTT_SCHEMES),
    'RTT Scheme',
    'Preset of the round trip time; takes the place of RTT unless it is none.',
    'none',
  ),
  'cake-diffserv': cake(
    oneOf(['diffserv3', 'diffserv4', 'diffserv8', 'besteffort', 'precedence']),
    'Diffserv',
    'Tins that traffic is put into by its DSCP.',
    'diffserv3',
  ),
  'cake-flowmode': cake(
    oneOf(['flowblind', 'srchost', 'dsthost', 'hosts', 'flows', 'dual-srchost', 'dual-dsthost', 'triple-isolate']),
    'Flow Mode',
    'What is kept from taking the share of another.',
    'triple-isolate',
  ),
  'cake-nat': optional(
    cake(bool, 'NAT', 'Tell hosts apart by their addresses on the inner side of address translation.', 'false'),
  ),
  'cake-wash': optional(cake(bool, 'Wash', 'Clear the DSCP after it has chosen the tin.', 'false')),
  'cake-ack-filter': cake(
    oneOf(['none', 'filter', 'aggressive']),
    'ACK Filter',
    'Drop TCP acknowledgements that later ones make redundant.',
    'none',
  ),
  'cake-memlimit': cake(bytes, 'Memory Limit', 'Memory that what waits may take; 0 chooses by rate and RTT.', '0'),
};
