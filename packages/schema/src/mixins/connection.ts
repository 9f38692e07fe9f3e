import { defineMenu } from '../define.js';
import type { Kind } from '../kind.js';
import type { Menu, Prop } from '../menu.js';
import type { AddressFamily } from '../props/address-family.js';
import { bool } from '../props/bool.js';
import { bytes } from '../props/bytes.js';
import { counter } from '../props/counter.js';
import { duration } from '../props/duration.js';
import { oneOf } from '../props/enum.js';
import { int } from '../props/int.js';
import { ipPort } from '../props/ip.js';
import { ipProtocol } from '../props/ip-protocol.js';
import { ipv6Port } from '../props/ipv6-port.js';
import { rate } from '../props/rate.js';
import { text } from '../props/text.js';
import { FIREWALL_WINDOW, IPV6_FIREWALL_WINDOW } from '../windows.js';
import { readOnly } from './read-only.js';
import { vrf } from './vrf.js';

const statistic = (kind: Kind, label: string, help: string): Prop => readOnly(kind, label, help, 'Statistics');
const flag = (label: string, help: string): Prop => readOnly(bool, label, help, 'Status');
const packets = counter('packets');
const port = int({ min: 0, max: 65_535 });

/** Live table of the tracked connections of a family. */
export function connectionMenu(family: AddressFamily): Menu {
  const endpoint = family === 'ip' ? ipPort : ipv6Port;
  return defineMenu({
    path: `/${family}/firewall/connection`,
    ...(family === 'ip'
      ? {
          title: 'Connections',
          singular: 'Connection',
          tree: ['IP', 'Firewall', 'Connections'],
          help: 'Connections that the router tracks now.',
        }
      : {
          title: 'IPv6 Connections',
          singular: 'IPv6 Connection',
          tree: ['IPv6', 'Firewall', 'Connections'],
          help: 'Connections of IPv6 that the router tracks now.',
        }),
    kind: 'status-list',
    props: {
      protocol: readOnly(ipProtocol, 'Protocol', 'IP protocol of the connection.'),
      'src-address': readOnly(endpoint, 'Src. Address', 'Source of the first packet, with its port.'),
      'dst-address': readOnly(endpoint, 'Dst. Address', 'Destination of the first packet, with its port.'),
      'reply-src-address': readOnly(endpoint, 'Reply Src. Address', 'Source of the replies, with its port.'),
      'reply-dst-address': readOnly(endpoint, 'Reply Dst. Address', 'Destination of the replies, with its port.'),
      'src-port': readOnly(port, 'Src. Port', 'Source port of the first packet.'),
      'dst-port': readOnly(port, 'Dst. Port', 'Destination port of the first packet.'),
      'reply-src-port': readOnly(port, 'Reply Src. Port', 'Source port of the replies.'),
      'reply-dst-port': readOnly(port, 'Reply Dst. Port', 'Destination port of the replies.'),
      'tcp-state': readOnly(
        oneOf([
          'none',
          'syn-sent',
          'syn-recv',
          'established',
          'fin-wait',
          'close-wait',
          'last-ack',
          'time-wait',
          'close',
          'listen',
        ]),
        'TCP State',
        'State of the TCP connection.',
      ),
      'icmp-type': readOnly(int({ min: 0, max: 255 }), 'ICMP Type', 'Type of the ICMP query.'),
      'icmp-code': readOnly(int({ min: 0, max: 255 }), 'ICMP Code', 'Code of the ICMP query.'),
      'icmp-id': readOnly(port, 'ICMP ID', 'Identifier of the ICMP query.'),
      'connection-mark': readOnly(text(), 'Connection Mark', 'Mark that a mangle rule gave the connection.'),
      ...vrf('VRF of the interface that the first packet came in by.'),
      timeout: readOnly(duration(), 'Timeout', 'Time until the entry ends unless packets refresh it.'),
      'orig-rate': statistic(rate, 'Orig. Rate', 'Bits per second in the direction of the first packet.'),
      'repl-rate': statistic(rate, 'Repl. Rate', 'Bits per second in the direction of the replies.'),
      'orig-packets': statistic(packets, 'Orig. Packets', 'Packets in the direction of the first packet.'),
      'repl-packets': statistic(packets, 'Repl. Packets', 'Packets in the direction of the replies.'),
      'orig-bytes': statistic(bytes, 'Orig. Bytes', 'IP bytes in the direction of the first packet.'),
      'repl-bytes': statistic(bytes, 'Repl. Bytes', 'IP bytes in the direction of the replies.'),
      'orig-fasttrack-packets': statistic(
        packets,
        'Orig. Fasttrack Packets',
        'Fasttracked packets in the direction of the first packet.',
      ),
      'repl-fasttrack-packets': statistic(
        packets,
        'Repl. Fasttrack Packets',
        'Fasttracked packets in the direction of the replies.',
      ),
      'orig-fasttrack-bytes': statistic(
        bytes,
        'Orig. Fasttrack Bytes',
        'Fasttracked IP bytes in the direction of the first packet.',
      ),
      'repl-fasttrack-bytes': statistic(
        bytes,
        'Repl. Fasttrack Bytes',
        'Fasttracked IP bytes in the direction of the replies.',
      ),
      'slow-path-reason': readOnly(
        text(),
        'Slow Path Reason',
        'Why packets go through every stage; empty when the flow cache forwards them all.',
      ),
      'seen-reply': flag('Seen Reply', 'Packets passed in both directions.'),
      assured: flag('Assured', 'Not removed early when the table is full.'),
      confirmed: flag('Confirmed', 'The first packet has left the router.'),
      dying: flag('Dying', 'Being removed.'),
      fasttrack: flag('Fasttrack', 'Packets of the connection may take the fast path.'),
      'hw-offload': flag(
        'HW Offload',
        'The kernel forwards packets of the connection, see flow-offload of IP Settings.',
      ),
      srcnat: flag('Srcnat', 'The source address is translated.'),
      dstnat: flag('Dstnat', 'The destination address is translated.'),
    },
    flags: [
      { letter: 'S', prop: 'seen-reply', title: 'seen reply' },
      { letter: 'A', prop: 'assured', title: 'assured' },
      { letter: 'C', prop: 'confirmed', title: 'confirmed' },
      { letter: 'D', prop: 'dying', title: 'dying' },
      { letter: 'F', prop: 'fasttrack', title: 'fasttrack' },
      { letter: 'H', prop: 'hw-offload', title: 'hw-offload' },
      { letter: 's', prop: 'srcnat', title: 'srcnat' },
      { letter: 'd', prop: 'dstnat', title: 'dstnat' },
    ],
    columns: [
      'src-address',
      'dst-address',
      'protocol',
      'connection-mark',
      'timeout',
      'tcp-state',
      'orig-rate',
      'repl-rate',
      'orig-bytes',
      'repl-bytes',
      'slow-path-reason',
    ],
    tabs: ['General', 'Statistics', 'Status'],
    key: ['src-address', 'dst-address'],
    commands: ['remove'],
    refreshMs: 1_000,
    window: { tabOf: family === 'ip' ? FIREWALL_WINDOW : IPV6_FIREWALL_WINDOW },
    source: 'live',
  });
}
