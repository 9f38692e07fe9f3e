import { reading } from '../../commands.js';
import { defineMenu } from '../../define.js';
import type { Kind } from '../../kind.js';
import type { Prop } from '../../menu.js';
import { TCP_FLAGS } from '../../mixins/firewall-match.js';
import { readOnly } from '../../mixins/read-only.js';
import { bool } from '../../props/bool.js';
import { datetime } from '../../props/datetime.js';
import { duration } from '../../props/duration.js';
import { oneOf } from '../../props/enum.js';
import { icmpOptions } from '../../props/icmp-options.js';
import { int } from '../../props/int.js';
import { ipProtocol } from '../../props/ip-protocol.js';
import { prefixAny } from '../../props/prefix-any.js';
import { reference } from '../../props/reference.js';
import { setOf } from '../../props/set.js';
import { text } from '../../props/text.js';

const argument = (kind: Kind, label: string, help: string, fallback?: string): Prop => ({
  kind,
  label,
  help,
  tab: 'Packet',
  unset: true,
  ...(fallback !== undefined && { default: fallback }),
});
const result = (kind: Kind, label: string, help: string): Prop => readOnly(kind, label, help, 'Result');

const port = int({ min: 0, max: 65_535 });

/** Arguments of both commands: they describe the packet of a dry run, or filter the packets of a live trace. */
const packetArguments = {
  packet: argument(
    text({ max: 500 }),
    'Packet',
    'All in one line: tcp 192.168.88.10:40000 -> 1.1.1.1:443 in ether2. Other properties take precedence.',
  ),
  protocol: argument(ipProtocol, 'Protocol', 'IP protocol by name or number.'),
  'src-address': argument(prefixAny, 'Src. Address', 'Source address; a live trace takes prefixes.'),
  'src-port': argument(port, 'Src. Port', 'Source port, or the ICMP identifier.'),
  'dst-address': argument(prefixAny, 'Dst. Address', 'Destination address; a live trace takes prefixes.'),
  'dst-port': argument(port, 'Dst. Port', 'Destination port.'),
  'in-interface': argument(
    reference('/interface', 'name'),
    'In. Interface',
    'Where the packet comes in; a live trace by addresses or ports takes the answers too. Dry run: by default where its source is.',
  ),
};

/** Arguments of the live trace. */
const traceArguments = {
  dropped: argument(bool, 'Dropped', 'Live trace: only packets that are dropped.', 'false'),
  packets: argument(int({ min: 1, max: 10_000 }), 'Packets', 'Live trace: end after this many packets.', '10'),
  duration: argument(
    duration({ minMs: 1_000, maxMs: 55_000 }),
    'Duration',
    'Live trace: end after this time even if fewer packets came.',
    '10s',
  ),
};

/** Arguments of the dry run. */
const dryRunArguments = {
  'tcp-flags': argument(setOf(TCP_FLAGS), 'TCP Flags', 'Dry run: flags that are set; by default syn.'),
  'icmp-options': argument(icmpOptions, 'ICMP Options', 'Dry run: type and code; by default an echo request.'),
  'packet-size': argument(
    int({ min: 20, max: 65_535, unit: 'bytes' }),
    'Packet Size',
    'Dry run: length of the IP packet in bytes.',
    '84',
  ),
  ttl: argument(int({ min: 0, max: 255 }), 'TTL', 'Dry run: time to live.', '64'),
};

const results = {
  time: result(datetime, 'Time', 'When the packet came.'),
  'out-interface': result(
    text(),
    'Out. Interface',
    'Interface the packet left by, or was to leave by when it came to its queue.',
  ),
  length: result(int({ min: 0, max: 1_000_000, unit: 'bytes' }), 'Length', 'Length of the IP packet on the wire.'),
  segments: result(
    int({ min: 2, max: 65_535 }),
    'Segments',
    'Packets on the wire, when the device segments it (TSO, GSO).',
  ),
  path: result(oneOf(['fast', 'slow']), 'Path', 'Whether the flow cache forwarded it.'),
  'slow-path-reason': result(text(), 'Slow Path Reason', 'Why the flow cache did not.'),
  outcome: result(
    oneOf(['forwarded', 'delivered', 'answered', 'held', 'dropped']),
    'Outcome',
    'Outcome of the packet. held: after a second it still waited in a queue, for fragments, or for the address of its next hop.',
  ),
  'drop-reason': result(text(), 'Drop Reason', 'Why it was dropped.'),
  rules: result(
    text(),
    'Rules',
    'Firewall rules, routes, addresses and queues that the stages decided by, each once, in order.',
  ),
  steps: result(text({ sentence: true }), 'Steps', 'What each stage decided, in order.'),
};

/** Properties of a traced packet. */
const RESULT = [...Object.keys(packetArguments).filter((name) => name !== 'packet'), ...Object.keys(results)];

/** Trace of packets, stage by stage. */
export const toolPacketTrace = defineMenu({
  path: '/tool/packet-trace',
  title: 'Packet Trace',
  singular: 'Packet Trace',
  kind: 'command',
  tree: ['Tools', 'Packet Trace'],
  help: 'Decisions of each stage: for live packets that match, or for a described packet, which is not sent.',
  props: { ...packetArguments, ...traceArguments, ...dryRunArguments, ...results },
  flags: [],
  columns: [
    'time',
    'in-interface',
    'out-interface',
    'protocol',
    'src-address',
    'dst-address',
    'length',
    'path',
    'outcome',
    'drop-reason',
  ],
  tabs: ['Packet', 'Result'],
  commands: [
    reading({
      name: 'dry-run',
      help: 'Decisions of each stage about the described packet. Nothing is sent, counted or stored.',
      target: 'menu',
      args: { ...packetArguments, ...dryRunArguments },
      result: RESULT,
    }),
  ],
  run: reading({
    name: 'packet-trace',
    help: 'Packets that the arguments describe, as they come, until there are enough or the time is over.',
    target: 'menu',
    args: { ...packetArguments, ...traceArguments },
    result: RESULT,
  }),
  refreshMs: 1_000,
  window: { size: [980, 640] },
  source: 'live',
});
