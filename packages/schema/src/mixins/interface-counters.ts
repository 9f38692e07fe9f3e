import type { Kind } from '../kind.js';
import type { Prop } from '../menu.js';
import { bytes } from '../props/bytes.js';
import { counter } from '../props/counter.js';
import { rate } from '../props/rate.js';
import { readOnly } from './read-only.js';

const live = (kind: Kind, label: string, help: string): Prop => readOnly(kind, label, help, 'Traffic');
const packets = counter('packets');
const packetRate = counter('p/s');

/** Rates and totals of an interface. Bytes and bits are those of Ethernet frames without the check sequence. */
export const interfaceCounters: Readonly<Record<string, Prop>> = {
  'tx-bits-per-second': live(rate, 'Tx', 'Bits sent in the last full second.'),
  'rx-bits-per-second': live(rate, 'Rx', 'Bits received in the last full second.'),
  'tx-packets-per-second': live(packetRate, 'Tx Packet (p/s)', 'Packets sent in the last full second.'),
  'rx-packets-per-second': live(packetRate, 'Rx Packet (p/s)', 'Packets received in the last full second.'),
  'fp-tx-bits-per-second': live(rate, 'FP Tx', 'Bits sent by the fast path in the last full second.'),
  'fp-rx-bits-per-second': live(rate, 'FP Rx', 'Bits received by the fast path in the last full second.'),
  'fp-tx-packets-per-second': live(
    packetRate,
    'FP Tx Packet (p/s)',
    'Packets sent by the fast path in the last full second.',
  ),
  'fp-rx-packets-per-second': live(
    packetRate,
    'FP Rx Packet (p/s)',
    'Packets received by the fast path in the last full second.',
  ),
  'own-tx-bits-per-second': live(
    rate,
    'Own Tx',
    'Bits sent in the last full second that the router and its services made, not forwarded.',
  ),
  'own-tx-packets-per-second': live(
    packetRate,
    'Own Tx Packet (p/s)',
    'Packets sent in the last full second that the router and its services made, not forwarded.',
  ),
  'tx-drops-per-second': live(
    packetRate,
    'Tx Drop (p/s)',
    'Packets that the port could not take in the last full second.',
  ),
  'rx-drops-per-second': live(
    packetRate,
    'Rx Drop (p/s)',
    'Received frames lost for want of buffers in the last full second.',
  ),
  'tx-errors-per-second': live(
    packetRate,
    'Tx Error (p/s)',
    'Transmit errors that the port reported in the last full second.',
  ),
  'rx-errors-per-second': live(
    packetRate,
    'Rx Error (p/s)',
    'Receive errors that the port reported in the last full second.',
  ),
  'tx-byte': live(bytes, 'Tx Bytes', 'Bytes sent.'),
  'rx-byte': live(bytes, 'Rx Bytes', 'Bytes received.'),
  'tx-packet': live(packets, 'Tx Packets', 'Packets sent.'),
  'rx-packet': live(packets, 'Rx Packets', 'Packets received.'),
  'fp-tx-byte': live(bytes, 'FP Tx Bytes', 'Bytes sent by the fast path.'),
  'fp-rx-byte': live(bytes, 'FP Rx Bytes', 'Bytes received by the fast path.'),
  'fp-tx-packet': live(packets, 'FP Tx Packets', 'Packets sent by the fast path.'),
  'fp-rx-packet': live(packets, 'FP Rx Packets', 'Packets received by the fast path.'),
  'own-tx-byte': live(bytes, 'Own Tx Bytes', 'Bytes sent that the router and its services made, not forwarded.'),
  'own-tx-packet': live(
    packets,
    'Own Tx Packets',
    'Packets sent that the router and its services made, not forwarded.',
  ),
  'tx-drop': live(packets, 'Tx Drops', 'Packets that the port could not take.'),
  'rx-drop': live(
    packets,
    'Rx Drops',
    'Received frames that were lost for want of buffers, before the router looked at them.',
  ),
  'tx-error': live(packets, 'Tx Errors', 'Transmit errors that the port reported since the counters were reset.'),
  'rx-error': live(packets, 'Rx Errors', 'Receive errors that the port reported since the counters were reset.'),
};

/** Columns of the interface windows that show traffic, in order. */
export const trafficColumns = [
  'tx-bits-per-second',
  'rx-bits-per-second',
  'tx-packets-per-second',
  'rx-packets-per-second',
  'tx-drop',
  'rx-drop',
  'fp-tx-bits-per-second',
  'fp-rx-bits-per-second',
  'fp-tx-packets-per-second',
  'fp-rx-packets-per-second',
] as const;
