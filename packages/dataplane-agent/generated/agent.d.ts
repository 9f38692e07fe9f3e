// Generated from the Rust types by scripts/gen.mjs. Do not edit.

/**
 * Action of a match. The API's compiler never puts an action into a table that does not know it;
 * the agent refuses such a configuration and names the row.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Action".
 */
export type Action =
  | {
      kind: 'accept';
    }
  | {
      kind: 'drop';
    }
  | {
      kind: 'reject';
      /**
       * The answer.
       */
      with: RejectWith;
    }
  | {
      /**
       * Index of the chain in its table.
       */
      chain: number;
      kind: 'jump';
    }
  | {
      kind: 'return';
    }
  | {
      kind: 'log';
    }
  | {
      kind: 'passthrough';
    }
  | {
      kind: 'fasttrack-connection';
    }
  | {
      kind: 'mark-packet';
      /**
       * The mark; 0 takes it away.
       */
      mark: number;
      /**
       * Go on with the next rule; else this ends the table.
       */
      passthrough: boolean;
    }
  | {
      kind: 'mark-connection';
      /**
       * The mark; 0 takes it away.
       */
      mark: number;
      /**
       * Go on with the next rule; else this ends the table.
       */
      passthrough: boolean;
    }
  | {
      kind: 'mark-routing';
      /**
       * The mark; 0 takes it away.
       */
      mark: number;
      /**
       * Go on with the next rule; else this ends the table.
       */
      passthrough: boolean;
    }
  | {
      /**
       * 0…63.
       */
      dscp: number;
      kind: 'change-dscp';
      /**
       * Go on with the next rule; else this ends the table.
       */
      passthrough: boolean;
    }
  | {
      kind: 'change-mss';
      /**
       * The size.
       */
      mss: NewMss;
      /**
       * Go on with the next rule; else this ends the table.
       */
      passthrough: boolean;
    }
  | {
      kind: 'add-src-to-address-list';
      /**
       * Index of the list.
       */
      list: number;
      /**
       * Life of the entry, milliseconds, begun anew by each packet; 0 until the agent ends.
       */
      'timeout-ms': number;
    }
  | {
      kind: 'add-dst-to-address-list';
      /**
       * Index of the list.
       */
      list: number;
      /**
       * Life of the entry, milliseconds, begun anew by each packet; 0 until the agent ends.
       */
      'timeout-ms': number;
    }
  | {
      kind: 'masquerade';
      /**
       * Choose the port at random.
       */
      'randomise-ports': boolean;
      /**
       * Allowed new source ports.
       */
      'to-ports'?: PortRange | null;
    }
  | {
      kind: 'src-nat';
      /**
       * Choose the port at random.
       */
      'randomise-ports': boolean;
      /**
       * Allowed new addresses; `None` keeps the address.
       */
      'to-addresses'?: AddressRange | null;
      /**
       * Allowed new source ports.
       */
      'to-ports'?: PortRange | null;
    }
  | {
      kind: 'dst-nat';
      /**
       * New addresses; `None` keeps the address.
       */
      'to-addresses'?: AddressRange | null;
      /**
       * New ports.
       */
      'to-ports'?: PortRange | null;
    }
  | {
      kind: 'netmap';
      /**
       * The prefix.
       */
      'to-addresses': AddressRange;
      /**
       * New ports.
       */
      'to-ports'?: PortRange | null;
    }
  | {
      kind: 'redirect';
      /**
       * New ports.
       */
      'to-ports'?: PortRange | null;
    };
/**
 * Answer to a rejected packet. Which of them a rule may have depends on its family.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RejectWith".
 */
export type RejectWith =
  | 'icmp-network-unreachable'
  | 'icmp-host-unreachable'
  | 'icmp-protocol-unreachable'
  | 'icmp-port-unreachable'
  | 'icmp-net-prohibited'
  | 'icmp-host-prohibited'
  | 'icmp-admin-prohibited'
  | 'tcp-reset'
  | 'icmp-no-route'
  | 'icmp-not-neighbour'
  | 'icmp-address-unreachable'
  | 'icmp-err-src-routing-header'
  | 'icmp-headers-too-long';
/**
 * Largest segment size that a SYN packet is to announce.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "NewMss".
 */
export type NewMss =
  | {
      /**
       * Bytes.
       */
      bytes: number;
      kind: 'value';
    }
  | {
      kind: 'clamp-to-pmtu';
    };
/**
 * Condition of a rule. `negate` inverts it.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Matcher".
 */
export type Matcher =
  | {
      /**
       * Interface rows, one for a name, several for a list.
       */
      interfaces: number[];
      kind: 'in-interface';
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      /**
       * Interface rows, one for a name, several for a list.
       */
      interfaces: number[];
      kind: 'out-interface';
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      kind: 'protocol';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Number.
       */
      protocol: number;
    }
  | {
      kind: 'src-address';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Range.
       */
      range: AddressRange;
    }
  | {
      kind: 'dst-address';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Range.
       */
      range: AddressRange;
    }
  | {
      kind: 'src-address-list';
      /**
       * Index into [`DataplaneConfig::address_lists`], of IPv6 into [`DataplaneConfig::ipv6_address_lists`].
       */
      list: number;
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      kind: 'dst-address-list';
      /**
       * Index into [`DataplaneConfig::address_lists`], of IPv6 into [`DataplaneConfig::ipv6_address_lists`].
       */
      list: number;
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      kind: 'src-port';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Any of these.
       */
      ports: PortRange[];
    }
  | {
      kind: 'dst-port';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Any of these.
       */
      ports: PortRange[];
    }
  | {
      kind: 'port';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Any of these.
       */
      ports: PortRange[];
    }
  | {
      /**
       * Flags that must be clear.
       */
      clear: number;
      kind: 'tcp-flags';
      /**
       * Invert the whole.
       */
      negate: boolean;
      /**
       * Flags that must be set.
       */
      set: number;
    }
  | {
      /**
       * First code.
       */
      'code-from': number;
      /**
       * Last code.
       */
      'code-to': number;
      /**
       * Type.
       */
      'icmp-type': number;
      kind: 'icmp-options';
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      kind: 'connection-state';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Any of these.
       */
      states: ConnectionState[];
    }
  | {
      /**
       * Destination translated.
       */
      dstnat: boolean;
      kind: 'connection-nat-state';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Source translated.
       */
      srcnat: boolean;
    }
  | {
      kind: 'packet-mark';
      /**
       * The mark; 0 for packets without.
       */
      mark: number;
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      kind: 'routing-mark';
      /**
       * The mark; 0 for packets without.
       */
      mark: number;
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      kind: 'connection-mark';
      /**
       * The mark; 0 for connections without.
       */
      mark: number;
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      /**
       * 0…63.
       */
      dscp: number;
      kind: 'dscp';
      /**
       * Invert.
       */
      negate: boolean;
    }
  | {
      /**
       * Lowest.
       */
      from: number;
      kind: 'hop-limit';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Highest.
       */
      to: number;
    }
  | {
      /**
       * Shortest, bytes.
       */
      from: number;
      kind: 'packet-size';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Longest, bytes.
       */
      to: number;
    }
  | {
      /**
       * At least, bytes.
       */
      from: number;
      kind: 'connection-bytes';
      /**
       * At most, bytes; 0 has no end.
       */
      to: number;
    }
  | {
      /**
       * Days, bit 0 is Sunday.
       */
      days: number;
      /**
       * First moment, milliseconds after midnight.
       */
      'from-ms': number;
      kind: 'time';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Last moment, milliseconds after midnight; before `from_ms` the span passes midnight.
       */
      'to-ms': number;
      /**
       * Offset of the router's clock from UTC, seconds.
       */
      'utc-offset-s': number;
    }
  | {
      /**
       * Size of a group, packets.
       */
      every: number;
      kind: 'nth';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Which packet of the group, from 1.
       */
      packet: number;
    }
  | {
      kind: 'random';
      /**
       * 1 to 99, percent.
       */
      percent: number;
    }
  | {
      /**
       * Depth of the bucket, tokens.
       */
      burst: number;
      kind: 'limit';
      /**
       * Invert.
       */
      negate: boolean;
      /**
       * Milliseconds in which `rate` tokens come.
       */
      'per-ms': number;
      /**
       * Tokens per `per_ms`.
       */
      rate: number;
      /**
       * Unit of a token.
       */
      unit: LimitUnit;
    };
/**
 * Connection state (RouterOS `connection-state`).
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ConnectionState".
 */
export type ConnectionState = 'invalid' | 'established' | 'related' | 'new' | 'untracked';
/**
 * Unit that [`Matcher::Limit`] counts.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "LimitUnit".
 */
export type LimitUnit = 'packet' | 'bit';
/**
 * ARP mode of an interface.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ArpMode".
 */
export type ArpMode = 'disabled' | 'enabled' | 'proxy-arp' | 'reply-only' | 'local-proxy-arp';
/**
 * The frames that belong to an interface.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "InterfaceKind".
 */
export type InterfaceKind =
  | {
      /**
       * Method of exchanging frames with the port.
       */
      io: IoChoice;
      /**
       * Factory name of the port (`ether1`, `ether2` …). A port that is absent makes the interface not running; it
       * is no error.
       */
      port: string;
      type: 'ethernet';
    }
  | {
      /**
       * Row of the interface below, which may be a VLAN itself.
       */
      parent: number;
      /**
       * The tag is a service tag (EtherType 0x88a8), not a customer tag (0x8100).
       */
      'service-tag': boolean;
      type: 'vlan';
      /**
       * VLAN identifier, 1…4094.
       */
      'vlan-id': number;
    }
  | {
      type: 'loopback';
    };
/**
 * Port backend that is asked for.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "IoChoice".
 */
export type IoChoice = 'auto' | 'af-packet' | 'af-xdp';
/**
 * Queue type (`/queue/type`). Packets are wire segments; bytes are L3.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "QueueType".
 */
export type QueueType =
  | {
      kind: 'none';
    }
  | {
      kind: 'pfifo';
      /**
       * Packets that may wait.
       */
      limit: number;
    }
  | {
      kind: 'bfifo';
      /**
       * Bytes that may wait.
       */
      limit: number;
    }
  | {
      kind: 'mq-pfifo';
      /**
       * Packets that may wait in each.
       */
      limit: number;
    }
  | {
      /**
       * Length of a packet by which an idle time is counted, bytes.
       */
      'avg-packet': number;
      /**
       * Packets of a burst that the average forgives.
       */
      burst: number;
      kind: 'red';
      /**
       * Packets that may wait.
       */
      limit: number;
      /**
       * Average from which all packets are dropped, packets.
       */
      'max-threshold': number;
      /**
       * Average from which packets are dropped at random, packets.
       */
      'min-threshold': number;
    }
  | {
      /**
       * Bytes per turn.
       */
      allot: number;
      kind: 'sfq';
      /**
       * Time after which the hash changes, s; 0 never.
       */
      'perturb-s': number;
    }
  | {
      /**
       * Highest rate while a burst lasts, bits/s; 0 no bursts.
       */
      'burst-rate': number;
      /**
       * A burst is allowed while the sub-queue's average is below this, bits/s.
       */
      'burst-threshold': number;
      /**
       * Time over which the average is taken, ms.
       */
      'burst-time-ms': number;
      /**
       * Fields that tell sub-queues apart.
       */
      classifier: PcqClassifier[];
      /**
       * Leading bits of an IPv4 destination that count.
       */
      'dst-address-mask': number;
      /**
       * Leading bits of an IPv6 destination that count.
       */
      'dst-address6-mask': number;
      kind: 'pcq';
      /**
       * Bytes that may wait in a sub-queue.
       */
      limit: number;
      /**
       * Highest rate of a sub-queue, bits/s; 0 shares what there is equally.
       */
      rate: number;
      /**
       * Leading bits of an IPv4 source that count.
       */
      'src-address-mask': number;
      /**
       * Leading bits of an IPv6 source that count.
       */
      'src-address6-mask': number;
      /**
       * Bytes that may wait in all of them.
       */
      'total-limit': number;
    }
  | {
      /**
       * Mark every packet that has waited longer, µs; 0 none.
       */
      'ce-threshold-us': number;
      /**
       * Mark packets that can be marked (RFC 3168) instead of dropping them.
       */
      ecn: boolean;
      /**
       * Time in which the delay must come below the target once, µs.
       */
      'interval-us': number;
      kind: 'codel';
      /**
       * Packets that may wait.
       */
      limit: number;
      /**
       * Delay that is acceptable, µs.
       */
      'target-us': number;
    }
  | {
      /**
       * CoDel of each flow. Its limit is that of all flows together.
       */
      codel: Codel;
      /**
       * Buckets that flows are hashed into.
       */
      flows: number;
      kind: 'fq-codel';
      /**
       * Bytes of memory that what waits may take.
       */
      'memory-limit': number;
      /**
       * Bytes per turn.
       */
      quantum: number;
    }
  | {
      /**
       * Acknowledgements that later ones make redundant.
       */
      'ack-filter': CakeAckFilter;
      /**
       * Framing charged for.
       */
      atm: CakeAtm;
      /**
       * Follow the rate at which packets arrive instead.
       */
      'autorate-ingress': boolean;
      /**
       * Rate of its own shaper, bits/s with overhead; 0 none.
       */
      bandwidth: number;
      /**
       * Tins.
       */
      diffserv: CakeDiffserv;
      /**
       * Definition of a flow.
       */
      flowmode: CakeFlowmode;
      kind: 'cake';
      /**
       * Bytes of memory that what waits may take; 0 chosen by rate and round trip time.
       */
      'memory-limit': number;
      /**
       * Least length charged, bytes; 0 none.
       */
      mpu: number;
      /**
       * Hosts and flows are distinguished by addresses before source translation, and after that of the destination.
       */
      nat: boolean;
      /**
       * Added to the L3 length of every packet, bytes.
       */
      overhead: number;
      /**
       * Round trip time it is tuned for, µs.
       */
      'rtt-us': number;
      /**
       * Clear the DSCP after it has chosen the tin.
       */
      wash: boolean;
    };
/**
 * Field that tells sub-queues of a [`QueueType::Pcq`] apart.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "PcqClassifier".
 */
export type PcqClassifier = 'src-address' | 'dst-address' | 'src-port' | 'dst-port';
/**
 * ACK filter of CAKE.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "CakeAckFilter".
 */
export type CakeAckFilter = 'none' | 'filter' | 'aggressive';
/**
 * Framing of the link.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "CakeAtm".
 */
export type CakeAtm = 'none' | 'atm' | 'ptm';
/**
 * Tins of CAKE.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "CakeDiffserv".
 */
export type CakeDiffserv = 'diffserv3' | 'diffserv4' | 'diffserv8' | 'besteffort' | 'precedence';
/**
 * Hosts and flows that CAKE isolates from one another.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "CakeFlowmode".
 */
export type CakeFlowmode =
  'flowblind' | 'srchost' | 'dsthost' | 'hosts' | 'flows' | 'dual-srchost' | 'dual-dsthost' | 'triple-isolate';
/**
 * How a gateway is probed.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "GatewayCheck".
 */
export type GatewayCheck = 'ping' | 'arp';
/**
 * Target of a route.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RouteTarget".
 */
export type RouteTarget =
  | {
      /**
       * The neighbour's address.
       */
      address: string;
      /**
       * Interface row, when the gateway was written `address%interface`.
       */
      interface?: number | null;
      kind: 'gateway';
    }
  | {
      /**
       * Interface row.
       */
      interface: number;
      kind: 'interface';
    }
  | {
      /**
       * The gateways.
       */
      gateways: Gateway[];
      kind: 'gateways';
    }
  | {
      kind: 'blackhole';
    }
  | {
      kind: 'unreachable';
    }
  | {
      kind: 'prohibit';
    };
/**
 * Action of a routing rule.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RoutingAction".
 */
export type RoutingAction =
  | {
      kind: 'lookup';
      /**
       * Routes with a prefix of this length or shorter are passed over, as by `suppress_prefixlength` of ip-rule(8).
       */
      'min-prefix'?: number | null;
      /**
       * Without a route in the table there is none; otherwise the following rules decide.
       */
      only: boolean;
      /**
       * Number of the table.
       */
      table: number;
    }
  | {
      kind: 'drop';
    }
  | {
      kind: 'unreachable';
    };
/**
 * Meaning of `fasttrack-connection`.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "FasttrackMode".
 */
export type FasttrackMode = 'cached' | 'bypass';
/**
 * Fields by which the packets of flows are divided between the gateways of a route.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "MultipathHash".
 */
export type MultipathHash = 'l3' | 'l4' | 'l3-inner';
/**
 * Reverse path check (RFC 3704).
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RpFilter".
 */
export type RpFilter = 'no' | 'strict' | 'loose';
/**
 * Timestamps of TCP (RFC 7323), as tcp_timestamps of Linux.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TcpTimestamps".
 */
export type TcpTimestamps = 'disabled' | 'random-offset' | 'enabled';
/**
 * Whose traffic a simple queue holds.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "QueueTarget".
 */
export type QueueTarget = Prefix | TargetInterface;
/**
 * When connections are tracked.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TrackingMode".
 */
export type TrackingMode = 'auto' | 'yes' | 'no';
/**
 * Whose child a node of `/queue/tree` is.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TreeParent".
 */
export type TreeParent =
  | {
      kind: 'global';
    }
  | {
      /**
       * Row of the interface.
       */
      interface: number;
      kind: 'interface';
    }
  | {
      kind: 'queue';
      /**
       * Row of the node.
       */
      row: number;
    };
/**
 * Agent to client.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Message".
 */
export type Message =
  | (Reply & {
      type: 'reply';
    })
  | (ErrorReply & {
      type: 'error';
    })
  | ((
      | {
          event: 'log';
          /**
           * The line.
           */
          message: string;
          /**
           * Wall clock, ms since 1970.
           */
          'time-ms': number;
          /**
           * Comma list: `firewall,info`, `interface,info`, `system,error` …
           */
          topics: string;
        }
      | {
          event: 'link';
          /**
           * Factory name.
           */
          port: string;
          /**
           * Netdev exists.
           */
          present: boolean;
          /**
           * Has carrier.
           */
          running: boolean;
        }
      | {
          event: 'port';
          /**
           * State of the port, as in [`ReplyBody::Hello`].
           */
          port: PortInfo;
        }
    ) & {
      type: 'event';
    });
/**
 * Reply to a request.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ReplyBody".
 */
export type ReplyBody =
  | {
      /**
       * [`Digest`](crate::digest::Digest) of the configuration in force.
       */
      digest: string;
      op: 'hello';
      /**
       * Process id of the agent.
       */
      pid: number;
      /**
       * Ports in claim order.
       */
      ports: PortInfo[];
      /**
       * [`PROTOCOL`] of the agent.
       */
      protocol: number;
      /**
       * Active revision; 0 before the first activation.
       */
      revision: number;
      /**
       * Name of the router network namespace, where local services run; empty in memory mode.
       */
      'router-netns': string;
      /**
       * Software version.
       */
      version: string;
    }
  | {
      op: 'prepared';
      /**
       * For [`RequestBody::Activate`].
       */
      token: number;
    }
  | {
      /**
       * Digest of the configuration, as in [`ReplyBody::Hello`].
       */
      digest: string;
      op: 'activated';
      /**
       * Now active.
       */
      revision: number;
    }
  | {
      /**
       * Number of affected items.
       */
      count: number;
      op: 'done';
    }
  | {
      /**
       * Per core that workers may run on, ascending.
       */
      cores: CoreStats[];
      /**
       * [`Digest`](crate::digest::Digest) of the configuration in force.
       */
      digest: string;
      /**
       * Per drop reason that ever fired.
       */
      drops: DropStats[];
      /**
       * `/ip/settings` counters.
       */
      'fast-path': FastPathStats;
      /**
       * Per interface.
       */
      interfaces: InterfaceStats[];
      /**
       * Monotonic time of the snapshot, ns.
       */
      'now-ns': number;
      op: 'stats';
      /**
       * Totals of all queues.
       */
      queues: QueueTotals;
      /**
       * Active revision.
       */
      revision: number;
      /**
       * Per rule of every table.
       */
      rules: RuleStats[];
      /**
       * Packets that the flow cache did not forward, by reason, since start. Every reason is listed, in
       * an order that stays for the life of the agent: connection records number them from 1.
       */
      slow: SlowStats[];
      /**
       * Connection table.
       */
      tracking: TrackingStats;
      /**
       * Since the agent started, ns.
       */
      'uptime-ns': number;
      /**
       * Per worker.
       */
      workers: WorkerStats[];
    }
  | {
      /**
       * Monotonic time of the snapshot, ns; differences give rates.
       */
      'now-ns': number;
      op: 'connections';
      /**
       * The records.
       */
      records: Uint8Array;
    }
  | {
      /**
       * Monotonic time of the snapshot, ns.
       */
      'now-ns': number;
      op: 'queues';
      /**
       * The records.
       */
      records: Uint8Array;
    }
  | {
      /**
       * Monotonic time of the answer, ns.
       */
      'now-ns': number;
      op: 'token-bucket';
      /**
       * Packed [`TokenBucketRecord`](super::record::TokenBucketRecord)s, oldest first, of the last 4,096
       * milliseconds at most; those in which nothing passed, came or waited are left out. Several workers may each
       * have a record of one millisecond, which add up. Of a tree's node only the first of the two parts is used.
       */
      records: Uint8Array;
    }
  | {
      /**
       * The table.
       */
      neighbors: NeighborInfo[];
      op: 'neighbors';
    }
  | {
      /**
       * The table.
       */
      neighbors: Ipv6NeighborInfo[];
      op: 'ipv6-neighbors';
    }
  | {
      /**
       * By interface; a link-local address that the router has made comes first.
       */
      addresses: Ipv6AddressInfo[];
      op: 'ipv6-addresses';
    }
  | {
      op: 'routes';
      /**
       * The records.
       */
      records: Uint8Array;
    }
  | {
      op: 'ipv6-routes';
      /**
       * The records.
       */
      records: Uint8Array;
    }
  | {
      /**
       * Interface row that packets to it leave by, or that has it; absent where no route leads there, or one that
       * drops them.
       */
      interface?: number | null;
      /**
       * The address is the router's own.
       */
      local: boolean;
      op: 'route-to';
    }
  | {
      /**
       * Names of the lists that records number.
       */
      lists: string[];
      op: 'address-list-entries';
      /**
       * Packed [`AddressListRecord`](super::record::AddressListRecord)s.
       */
      records: Uint8Array;
    }
  | {
      op: 'trace-started';
      /**
       * Names the trace.
       */
      trace: number;
    }
  | {
      /**
       * The trace has its packets, or was stopped.
       */
      done: boolean;
      /**
       * Packets that could not be noted because they came too fast.
       */
      lost: number;
      op: 'trace';
      /**
       * Oldest first.
       */
      packets: TracedPacket[];
    };
/**
 * Port backends.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "IoBackend".
 */
export type IoBackend = 'af-xdp' | 'af-packet' | 'memory';
/**
 * State of a neighbour (RFC 4861 §7.3.2's names, as Linux applies them to ARP).
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "NeighborStatus".
 */
export type NeighborStatus = 'incomplete' | 'reachable' | 'stale' | 'probe' | 'failed' | 'permanent';
/**
 * State of an address of the router (RFC 4862 §5.4).
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Ipv6AddressState".
 */
export type Ipv6AddressState = 'tentative' | 'preferred' | 'duplicate';
/**
 * Outcome of a traced packet.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TraceOutcome".
 */
export type TraceOutcome = 'forwarded' | 'delivered' | 'answered' | 'held' | 'dropped';
/**
 * Why a request was refused.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ErrorCode".
 */
export type ErrorCode = 'bad-request' | 'bad-config' | 'stale-base' | 'unknown-token' | 'internal';
/**
 * Requests of a client.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RequestBody".
 */
export type RequestBody =
  | {
      op: 'hello';
      /**
       * [`PROTOCOL`] of the client.
       */
      protocol: number;
    }
  | {
      /**
       * Revision that the client believes active; another one is refused with `stale-base`.
       */
      base: number;
      /**
       * The configuration.
       */
      config: DataplaneConfig;
      op: 'prepare';
      /**
       * Revision that `config` will be.
       */
      revision: number;
    }
  | {
      op: 'activate';
      /**
       * From [`ReplyBody::Prepared`].
       */
      token: number;
    }
  | {
      op: 'discard';
      /**
       * From [`ReplyBody::Prepared`].
       */
      token: number;
    }
  | {
      op: 'stats';
    }
  | {
      op: 'connections';
    }
  | {
      /**
       * [`CONNECTION_RECORD`] ids.
       */
      ids: number[];
      op: 'remove-connections';
    }
  | {
      op: 'queues';
    }
  | {
      /**
       * Only milliseconds with a greater number.
       */
      after: number;
      op: 'token-bucket';
      /**
       * Row of `/queue/simple` or `/queue/tree`.
       */
      row: number;
    }
  | {
      op: 'neighbors';
    }
  | {
      /**
       * Address of the neighbour.
       */
      address: string;
      /**
       * Interface row.
       */
      interface: number;
      op: 'remove-neighbor';
    }
  | {
      op: 'ipv6-neighbors';
    }
  | {
      /**
       * Address of the neighbour.
       */
      address: string;
      /**
       * Interface row.
       */
      interface: number;
      op: 'remove-ipv6-neighbor';
    }
  | {
      op: 'ipv6-addresses';
    }
  | {
      op: 'routes';
    }
  | {
      op: 'ipv6-routes';
    }
  | {
      /**
       * Where to.
       */
      address: string;
      op: 'route-to';
    }
  | {
      op: 'reset-queue-counters';
      /**
       * Queue rows.
       */
      rows: number[];
    }
  | {
      op: 'reset-counters';
      /**
       * Rule rows.
       */
      rows: number[];
    }
  | {
      op: 'reset-interface-counters';
      /**
       * Interface rows.
       */
      rows: number[];
    }
  | {
      op: 'address-list-entries';
    }
  | {
      /**
       * Entries to add.
       */
      entries: DynamicAddress[];
      op: 'add-address-list-entries';
    }
  | {
      /**
       * Which; the timeout is not looked at.
       */
      entries: DynamicAddress[];
      op: 'remove-address-list-entries';
    }
  | {
      /**
       * Which packets.
       */
      filter: TraceFilter;
      op: 'start-trace';
      /**
       * The trace stops by itself after this many packets, at most 10,000.
       */
      packets: number;
    }
  | {
      /**
       * Only packets with a greater number.
       */
      after: number;
      op: 'trace';
      /**
       * From [`ReplyBody::TraceStarted`].
       */
      trace: number;
    }
  | {
      op: 'stop-trace';
      /**
       * From [`ReplyBody::TraceStarted`].
       */
      trace: number;
    }
  | {
      op: 'dry-run';
      /**
       * The packet.
       */
      packet: PacketDescription;
    };

/**
 * The roots of the schema: everything else hangs on them.
 */
export interface Agent {
  /**
   * What the API's compiler makes.
   */
  config: DataplaneConfig;
  /**
   * Agent to client.
   */
  message: Message;
  /**
   * Client to agent.
   */
  request: Request;
}
/**
 * Everything the data plane needs to know.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "DataplaneConfig".
 */
export interface DataplaneConfig {
  /**
   * `/ip/firewall/address-list`, grouped; matchers name a list by its index here.
   */
  'address-lists': AddressList[];
  /**
   * `/ip/address` and `/ipv6/address`, without disabled and invalid rows. An interface with an address of IPv6 has
   * IPv6, and a link-local address.
   */
  addresses: InterfaceAddress[];
  /**
   * `/ip/firewall/filter`; the chains `input`, `forward` and `output` are the hooks.
   */
  filter: Chain[];
  /**
   * [`FORMAT`] of the writer.
   */
  format: number;
  /**
   * `/queue/interface`. Absent before format 4.
   */
  'interface-queues'?: InterfaceQueue[];
  /**
   * L3 interfaces. Every `RowId` that names an interface elsewhere is one of these rows.
   */
  interfaces: Interface[];
  /**
   * `/ipv6/firewall/address-list`, grouped; matchers of IPv6 name a list by its index here. A list of
   * `address_lists` with the same name is another list. Absent before format 6.
   */
  'ipv6-address-lists'?: AddressList[];
  /**
   * `/ipv6/firewall/filter`, with the hooks of `filter`. Absent before format 6.
   */
  'ipv6-filter'?: Chain[];
  /**
   * `/ipv6/firewall/mangle`, with the hooks of `mangle`. Absent before format 6.
   */
  'ipv6-mangle'?: Chain[];
  /**
   * `/ipv6/firewall/nat`, with the hooks of `nat`. Absent before format 6.
   */
  'ipv6-nat'?: Chain[];
  /**
   * `/ip/firewall/mangle`; the chains `prerouting`, `input`, `forward`, `output` and `postrouting` are the hooks.
   * Absent before format 4.
   */
  mangle?: Chain[];
  /**
   * Names of all marks, for log lines and traces. Absent before format 4.
   */
  'mark-names'?: MarkName[];
  /**
   * `/ip/firewall/nat`; the chains `srcnat` and `dstnat` are the hooks.
   */
  nat: Chain[];
  /**
   * `/ip/arp` and `/ipv6/neighbor`, static entries.
   */
  neighbors: StaticNeighbor[];
  /**
   * `/queue/type` as far as it is used; queues name a type by its index here. Absent before format 4.
   */
  'queue-types'?: QueueType[];
  /**
   * `/ip/route` and `/ipv6/route`, static routes only; connected ones follow from `addresses`.
   */
  routes: Route[];
  /**
   * `/routing/rule` in list order, without disabled and invalid rows. Absent before format 7.
   */
  'routing-rules'?: RoutingRule[];
  /**
   * `/routing/table` without the main table, in list order. Absent before format 7.
   */
  'routing-tables'?: RoutingTable[];
  /**
   * `/ip/settings`.
   */
  settings: IpSettings;
  /**
   * `/queue/simple` in list order, without disabled and invalid rows. Absent in format 1.
   */
  'simple-queues'?: SimpleQueue[];
  /**
   * `/ip/firewall/connection/tracking`.
   */
  tracking: Tracking;
  /**
   * `/queue/tree` in list order, without disabled and invalid rows. Absent before format 4.
   */
  'tree-queues'?: TreeQueue[];
}
/**
 * A named set of addresses.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "AddressList".
 */
export interface AddressList {
  /**
   * Members; overlaps are allowed.
   */
  entries: AddressRange[];
  /**
   * Name, for log lines and dumps.
   */
  name: string;
}
/**
 * Inclusive range of addresses of one family. A prefix is the range from its first to its last.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "AddressRange".
 */
export interface AddressRange {
  /**
   * First address.
   */
  from: string;
  /**
   * Last address, not below `from`.
   */
  to: string;
}
/**
 * An address of the router.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "InterfaceAddress".
 */
export interface InterfaceAddress {
  /**
   * The router's own address.
   */
  address: string;
  /**
   * Interface row.
   */
  interface: number;
  /**
   * Only of IPv6.
   */
  ipv6?: Ipv6AddressOptions;
  /**
   * Address of the connected network; differs from `address` masked only for point-to-point pairs.
   */
  network: string;
  /**
   * Prefix length of the connected network, bits.
   */
  'prefix-len': number;
  /**
   * Row of `/ip/address` or `/ipv6/address`.
   */
  row: number;
}
/**
 * Options of an IPv6 address.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Ipv6AddressOptions".
 */
export interface Ipv6AddressOptions {
  /**
   * Routers advertise the network, so that stations make themselves addresses of it (RFC 4861 §6.2.3, RFC 4862 §5.5).
   */
  advertise?: boolean;
  /**
   * The lower 64 bits of the address are made from the link-layer address of the interface (RFC 4291 appendix A).
   */
  'eui-64'?: boolean;
  /**
   * Do not look for another station with the address before it is used (RFC 4862 §5.4).
   */
  'no-dad'?: boolean;
}
/**
 * An ordered list of rules.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Chain".
 */
export interface Chain {
  /**
   * Name; the built-in names are hooks, every other is reached by `jump`.
   */
  name: string;
  /**
   * Rules in order of evaluation, without disabled and invalid rows.
   */
  rules: Rule[];
}
/**
 * A rule: all matchers must hold.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Rule".
 */
export interface Rule {
  /**
   * Action of a match.
   */
  action: Action;
  /**
   * Write a log line for each match, with this prefix (may be empty).
   */
  log?: string | null;
  /**
   * Conditions, cheap ones first.
   */
  matchers: Matcher[];
  /**
   * Row of the menu.
   */
  row: number;
}
/**
 * Inclusive range of ports.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "PortRange".
 */
export interface PortRange {
  /**
   * First port.
   */
  from: number;
  /**
   * Last port, not below `from`.
   */
  to: number;
}
/**
 * Queue of packets for a port that takes no more of them (`/queue/interface`). Interfaces without an entry keep
 * only what the port itself keeps.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "InterfaceQueue".
 */
export interface InterfaceQueue {
  /**
   * Row of the interface.
   */
  interface: number;
  /**
   * Index into [`DataplaneConfig::queue_types`].
   */
  'queue-type': number;
}
/**
 * An L3 interface.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Interface".
 */
export interface Interface {
  /**
   * ARP mode.
   */
  arp: ArpMode;
  /**
   * Base reachable time of this interface's ARP entries, milliseconds; `None` follows the settings.
   */
  'arp-timeout-ms'?: number | null;
  /**
   * Administratively down: nothing is received or sent.
   */
  disabled: boolean;
  /**
   * The frames that are its own.
   */
  kind: InterfaceKind;
  /**
   * Link-layer address to use instead of the port's own or, for a VLAN, that of the interface below,
   * `aa:bb:cc:dd:ee:ff`.
   */
  'mac-address'?: string | null;
  /**
   * L3 MTU, bytes.
   */
  mtu: number;
  /**
   * Name as the user sees it; used in log lines and as the alternative name of the TAP.
   */
  name: string;
  /**
   * Row of `/interface/ethernet`, `/interface/vlan` or `/interface/loopback`.
   */
  row: number;
  /**
   * Zone of its packets, which is that of its VRF; 0 for an interface in no VRF.
   */
  zone?: number;
}
/**
 * Name of a mark.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "MarkName".
 */
export interface MarkName {
  /**
   * The mark.
   */
  mark: number;
  /**
   * Name for people.
   */
  name: string;
}
/**
 * A static entry of a neighbour.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "StaticNeighbor".
 */
export interface StaticNeighbor {
  /**
   * The neighbour's address.
   */
  address: string;
  /**
   * Interface row.
   */
  interface: number;
  /**
   * The neighbour's link-layer address, `aa:bb:cc:dd:ee:ff`.
   */
  'mac-address': string;
  /**
   * Answer ARP requests for the address. Only of IPv4.
   */
  published: boolean;
  /**
   * Row of `/ip/arp` or `/ipv6/neighbor`.
   */
  row: number;
}
/**
 * Controlled delay.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Codel".
 */
export interface Codel {
  /**
   * Mark every packet that has waited longer, µs; 0 none.
   */
  'ce-threshold-us': number;
  /**
   * Mark packets that can be marked (RFC 3168) instead of dropping them.
   */
  ecn: boolean;
  /**
   * Time in which the delay must come below the target once, µs.
   */
  'interval-us': number;
  /**
   * Packets that may wait.
   */
  limit: number;
  /**
   * Delay that is acceptable, µs.
   */
  'target-us': number;
}
/**
 * A static route.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Route".
 */
export interface Route {
  /**
   * Destination network.
   */
  destination: string;
  /**
   * Preference among routes to the same prefix; lower wins. 1…255.
   */
  distance: number;
  /**
   * What few routes have other than by default.
   */
  options?: RouteOptions;
  /**
   * Source address for packets of the router itself.
   */
  'pref-src'?: string | null;
  /**
   * Prefix length, bits.
   */
  'prefix-len': number;
  /**
   * Row of `/ip/route` or `/ipv6/route`.
   */
  row: number;
  /**
   * Target of the route.
   */
  target: RouteTarget;
}
/**
 * Options of a route.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RouteOptions".
 */
export interface RouteOptions {
  /**
   * How the gateways are probed; those that do not answer are not used.
   */
  'check-gateway'?: GatewayCheck | null;
  /**
   * Routes whose target scope is at least this may find their gateways by this route.
   */
  scope: number;
  /**
   * The table that the route is in.
   */
  table?: number;
  /**
   * Scope up to which routes may lead to the gateways of this one.
   */
  'target-scope': number;
}
/**
 * One of several gateways of a route, or one in another table: an address, an interface or both.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Gateway".
 */
export interface Gateway {
  /**
   * The neighbour's address.
   */
  address?: string | null;
  /**
   * Interface row.
   */
  interface?: number | null;
  /**
   * The table in which the way to the gateway is looked up, when it is not that of the route.
   */
  table?: number | null;
}
/**
 * A rule of `/routing/rule`. Every condition that it has must hold.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RoutingRule".
 */
export interface RoutingRule {
  /**
   * What becomes of the packet.
   */
  action: RoutingAction;
  /**
   * The destination is in this network. It is of the family of `source`, if both are there; a rule without either
   * is for both families.
   */
  destination?: Prefix | null;
  /**
   * Row of the interface that the packet came in on.
   */
  interface?: number | null;
  /**
   * The packet has this routing mark.
   */
  'routing-mark'?: number | null;
  /**
   * Row of `/routing/rule`.
   */
  row: number;
  /**
   * The source is in this network.
   */
  source?: Prefix | null;
}
/**
 * An IPv4 or IPv6 network.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Prefix".
 */
export interface Prefix {
  /**
   * First address; host bits are zero.
   */
  address: string;
  /**
   * 0…32 or 0…128.
   */
  'prefix-len': number;
}
/**
 * A routing table other than the main table. Its number is its place and one.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RoutingTable".
 */
export interface RoutingTable {
  /**
   * Packets can be looked up in it. The routes of any other table only lead to gateways.
   */
  fib: boolean;
  /**
   * The mark of packets that are looked up in this table: it is made from the name.
   */
  mark: number;
  /**
   * Name.
   */
  name: string;
  /**
   * Row of `/routing/table`.
   */
  row: number;
  /**
   * Zone of the VRF whose table it is: it has the networks and addresses of the interfaces in that zone, whose packets are
   * looked up in it. 0 for the table of no VRF.
   */
  zone?: number;
}
/**
 * `/ip/settings`.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "IpSettings".
 */
export interface IpSettings {
  /**
   * Follow ICMP redirects with what the router itself sends (RFC 1122 §3.2.2.2).
   */
  'accept-redirects'?: boolean;
  /**
   * Follow the source routes of packets (RFC 1812 §5.2.4.1) instead of dropping these.
   */
  'accept-source-route'?: boolean;
  /**
   * `false` sends every packet of IPv4 through every stage.
   */
  'allow-fast-path': boolean;
  /**
   * Base reachable time of ARP entries, milliseconds.
   */
  'arp-timeout-ms': number;
  /**
   * Stages that fasttracked connections skip.
   */
  'fasttrack-mode'?: FasttrackMode & string;
  /**
   * Let the kernel forward what the flow cache knows, between ports by packet socket.
   */
  'flow-offload'?: boolean;
  /**
   * Memory of fragments that wait for the first one of their datagram, over all workers, bytes.
   */
  'fragment-bytes'?: number;
  /**
   * Longest time for the fragments of a datagram to arrive, milliseconds.
   */
  'fragment-time-ms'?: number;
  /**
   * Send ICMP errors from the first address of the interface that received the packet.
   */
  'icmp-errors-use-inbound-interface-address'?: boolean;
  /**
   * Smallest interval between two ICMP messages of limited types to one target, milliseconds; 0 is unlimited.
   */
  'icmp-rate-limit-ms': number;
  /**
   * Types of ICMP messages that are limited: bit n is type n (icmp_ratemask of Linux).
   */
  'icmp-rate-mask'?: number;
  /**
   * Forward packets between interfaces.
   */
  'ip-forward': boolean;
  /**
   * `/ipv6/settings`.
   */
  ipv6?: Ipv6Settings;
  /**
   * Upper bound of the neighbour table, entries.
   */
  'max-neighbor-entries': number;
  /**
   * What a flow is, where a route has several gateways.
   */
  'multipath-hash'?: MultipathHash;
  /**
   * Reverse path check on source addresses (RFC 3704).
   */
  'rp-filter': RpFilter;
  /**
   * Follow only redirects to a gateway that a route names.
   */
  'secure-redirects'?: boolean;
  /**
   * Send ICMP redirects (RFC 1812 §5.2.7.2).
   */
  'send-redirects'?: boolean;
  /**
   * Send SYN cookies from the router's namespace when the queue of a listener is full.
   */
  'tcp-syncookies'?: boolean;
  /**
   * Timestamps of TCP connections of the router's namespace.
   */
  'tcp-timestamps'?: TcpTimestamps & string;
}
/**
 * `/ipv6/settings`.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Ipv6Settings".
 */
export interface Ipv6Settings {
  /**
   * Interface rows on which router advertisements are taken, as by a host (RFC 4861 §6.3.4).
   */
  'accept-advertisements-on'?: number[];
  /**
   * Follow redirects with what the router itself sends (RFC 4861 §8.3).
   */
  'accept-redirects'?: boolean;
  /**
   * `false` sends every packet of IPv6 through every stage.
   */
  'allow-fast-path'?: boolean;
  /**
   * No interface has IPv6.
   */
  'disable-ipv6': boolean;
  /**
   * Interfaces with an address of IPv6 get no link-local address (RFC 4862 §5.3) beside it.
   */
  'disable-link-local-address'?: boolean;
  /**
   * Forward packets between interfaces.
   */
  forward: boolean;
  /**
   * Upper bound of the neighbours of IPv6, entries.
   */
  'max-neighbor-entries': number;
  /**
   * What a flow is, where a route has several gateways.
   */
  'multipath-hash'?: MultipathHash;
  /**
   * Which neighbours of IPv6 are forgotten, and when.
   */
  'neighbor-collection'?: NeighborCollection;
}
/**
 * When neighbours that nobody uses are forgotten, as gc_stale_time, gc_interval, gc_thresh1 and gc_thresh2 of Linux say it.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "NeighborCollection".
 */
export interface NeighborCollection {
  /**
   * Time between two looks at one that has been kept for longer, s.
   */
  'detect-interval-s': number;
  /**
   * Up to this number of neighbours none is forgotten.
   */
  'min-entries': number;
  /**
   * Above this number of neighbours unconfirmed ones go within seconds.
   */
  'soft-max-entries': number;
  /**
   * Time for which an unconfirmed neighbour is kept, s.
   */
  'stale-timeout-s': number;
}
/**
 * A simple queue. The first one in list order that a packet fits takes it: as *download* when the
 * destination (after its translation) is in a target, else as *upload* when the source (before its
 * translation) is. Then the first of its children that the packet fits, and so on; what fits no child of a queue
 * that has some is in none.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "SimpleQueue".
 */
export interface SimpleQueue {
  /**
   * To the targets.
   */
  download: QueueLimit;
  /**
   * Only traffic between the targets and this.
   */
  dst?: QueueTarget | null;
  /**
   * Only packets with one of these marks, 0 for those without; empty for all.
   */
  'packet-marks'?: number[];
  /**
   * Row of the simple queue whose child it is. At most eight levels; no circles.
   */
  parent?: number | null;
  /**
   * Row of `/queue/simple`.
   */
  row: number;
  /**
   * Whose traffic it holds; not empty.
   */
  targets: QueueTarget[];
  /**
   * When it works; always without.
   */
  time?: QueueTime | null;
  /**
   * Both together, after the one of the direction. Its parent is the `total` of the queue's parent.
   */
  total?: QueueLimit | null;
  /**
   * From the targets.
   */
  upload: QueueLimit;
}
/**
 * Rates of a node of a tree of queues.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "QueueLimit".
 */
export interface QueueLimit {
  /**
   * Depth of the token bucket: what `max_limit` brings in this time, ms.
   */
  'bucket-ms': number;
  /**
   * Highest rate while a burst lasts, bits/s; 0 no bursts.
   */
  'burst-limit'?: number;
  /**
   * A burst is allowed while the average is below this, bits/s.
   */
  'burst-threshold'?: number;
  /**
   * Time over which the average is taken, ms; 0 no bursts. It is taken anew every sixteenth of it.
   */
  'burst-time-ms'?: number;
  /**
   * Rate it gets in any case, bits/s; 0 none. Without a parent of no effect.
   */
  'limit-at'?: number;
  /**
   * Highest rate, bits/s; 0 no limit.
   */
  'max-limit': number;
  /**
   * 1 (first) to 8, among those that borrow from the same parent. Leaves only.
   */
  priority?: number;
  /**
   * Index into [`DataplaneConfig::queue_types`]. Leaves only.
   */
  'queue-type'?: number;
}
/**
 * An interface as the target of a simple queue.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TargetInterface".
 */
export interface TargetInterface {
  /**
   * Row of the interface.
   */
  interface: number;
}
/**
 * Time of day and days of the week, in the router's time zone.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "QueueTime".
 */
export interface QueueTime {
  /**
   * Days, bit 0 is Sunday.
   */
  days: number;
  /**
   * First moment, milliseconds after midnight.
   */
  'from-ms': number;
  /**
   * At all other times instead.
   */
  negate: boolean;
  /**
   * Last moment, milliseconds after midnight; before `from_ms` the span passes midnight.
   */
  'to-ms': number;
  /**
   * Offset of the router's clock from UTC, seconds.
   */
  'utc-offset-s': number;
}
/**
 * `/ip/firewall/connection/tracking`. Timeouts in milliseconds.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Tracking".
 */
export interface Tracking {
  /**
   * When connections are tracked.
   */
  enabled: TrackingMode;
  /**
   * Every other protocol.
   */
  'generic-timeout-ms': number;
  /**
   * ICMP queries.
   */
  'icmp-timeout-ms': number;
  /**
   * Only out-of-window resets are invalid.
   */
  'liberal-tcp-tracking': boolean;
  /**
   * Pick up TCP connections seen mid-stream.
   */
  'loose-tcp-tracking': boolean;
  /**
   * Upper bound of the connection table, over all workers.
   */
  'max-entries': number;
  /**
   * After a reset.
   */
  'tcp-close-timeout-ms': number;
  /**
   * While the closing side waits.
   */
  'tcp-close-wait-timeout-ms': number;
  /**
   * Established TCP.
   */
  'tcp-established-timeout-ms': number;
  /**
   * After the first FIN.
   */
  'tcp-fin-wait-timeout-ms': number;
  /**
   * While the last ACK is awaited.
   */
  'tcp-last-ack-timeout-ms': number;
  /**
   * Once retransmissions exceed three.
   */
  'tcp-max-retrans-timeout-ms': number;
  /**
   * After the SYN-ACK was seen.
   */
  'tcp-syn-received-timeout-ms': number;
  /**
   * After a SYN was seen.
   */
  'tcp-syn-sent-timeout-ms': number;
  /**
   * In time-wait.
   */
  'tcp-time-wait-timeout-ms': number;
  /**
   * While data stays unacknowledged.
   */
  'tcp-unacked-timeout-ms': number;
  /**
   * Two-way UDP.
   */
  'udp-stream-timeout-ms': number;
  /**
   * One-way UDP.
   */
  'udp-timeout-ms': number;
}
/**
 * A node of `/queue/tree`. Of the leaves below one root, a packet goes to the first one in list order that has its
 * mark, else to the first one without marks; into none if there is neither. A packet may pass a leaf below
 * `global`, then a simple queue, then a leaf below the interface by which it leaves.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TreeQueue".
 */
export interface TreeQueue {
  /**
   * Rates.
   */
  limit: QueueLimit;
  /**
   * Packets with one of these marks, 0 for those without; empty for what no sibling's leaf takes.
   */
  'packet-marks': number[];
  /**
   * Whose child it is.
   */
  parent: TreeParent;
  /**
   * Row of `/queue/tree`.
   */
  row: number;
}
/**
 * Answer to a request.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Reply".
 */
export interface Reply {
  /**
   * The answer.
   */
  body: ReplyBody;
  /**
   * Number of the request.
   */
  id: number;
}
/**
 * A claimed port.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "PortInfo".
 */
export interface PortInfo {
  /**
   * Backend in use and why.
   */
  io: IoBackend;
  /**
   * Why this backend, for people.
   */
  'io-reason': string;
  /**
   * The netdev's own link-layer address, `aa:bb:cc:dd:ee:ff`.
   */
  'mac-address': string;
  /**
   * Largest L2 payload, bytes.
   */
  'max-l2mtu': number;
  /**
   * Factory name: `ether1`, `ether2` … in claim order.
   */
  name: string;
  /**
   * Name of the Linux netdev; empty for memory ports.
   */
  netdev: string;
}
/**
 * Time of the workers on one core. A worker runs where the kernel puts it, so that several may share a
 * core and one may use many. Cycles are TSC ticks since the workers started; differences give shares.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "CoreStats".
 */
export interface CoreStats {
  /**
   * Ticks per profiler class, busy time only; what no class explains is `unclassified`.
   */
  classes: ProfileClass[];
  /**
   * Number of the core.
   */
  cpu: number;
  /**
   * Ticks since the workers started.
   */
  cycles: number;
  /**
   * Cycles in which no worker was busy.
   */
  'idle-cycles': number;
}
/**
 * Time in one profiler class.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ProfileClass".
 */
export interface ProfileClass {
  /**
   * Ticks.
   */
  cycles: number;
  /**
   * Class name as `/tool/profile` prints it: ethernet, networking, firewall, queuing, management, …
   */
  name: string;
}
/**
 * Counter of a drop reason.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "DropStats".
 */
export interface DropStats {
  /**
   * Packets.
   */
  packets: number;
  /**
   * Name from the engine's closed list.
   */
  reason: string;
  /**
   * Text for people.
   */
  text: string;
}
/**
 * Counters of `/ip/settings`. Bytes are L3.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "FastPathStats".
 */
export interface FastPathStats {
  /**
   * The flow cache is in use, without connection tracking.
   */
  'fast-path-active': boolean;
  /**
   * L3 bytes of these packets.
   */
  'fast-path-bytes': number;
  /**
   * Packets forwarded by the flow cache that no connection-tracking FastTrack mark covers.
   */
  'fast-path-packets': number;
  /**
   * A fasttrack rule exists or a fasttracked connection lives.
   */
  'fasttrack-active': boolean;
  /**
   * L3 bytes of these packets.
   */
  'fasttrack-bytes': number;
  /**
   * Packets of fasttracked connections forwarded by the flow cache.
   */
  'fasttrack-packets': number;
  /**
   * Every way past the slow path: whether it is open, and what closes it.
   */
  handlers: FastPathHandler[];
}
/**
 * A way past the slow path.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "FastPathHandler".
 */
export interface FastPathHandler {
  /**
   * Packets may take it.
   */
  active: boolean;
  /**
   * The first condition that does not hold, for people; `None` when active.
   */
  'blocked-by'?: string | null;
  /**
   * L3 bytes of these packets.
   */
  bytes: number;
  /**
   * `ipv4-fast-path`, `ipv4-fasttrack`, `ipv4-flow-cache`, the same of `ipv6`, `flow-offload`.
   */
  name: string;
  /**
   * Packets that took it since start, wire segments.
   */
  packets: number;
}
/**
 * Counters of an interface. Bytes are L2 without FCS; packets count wire segments.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "InterfaceStats".
 */
export interface InterfaceStats {
  /**
   * L3 MTU in effect, bytes.
   */
  'actual-mtu': number;
  /**
   * Bytes received that took the fast path.
   */
  'fp-rx-bytes': number;
  /**
   * Packets received that took the fast path.
   */
  'fp-rx-packets': number;
  /**
   * Bytes sent that took the fast path.
   */
  'fp-tx-bytes': number;
  /**
   * Packets sent that took the fast path.
   */
  'fp-tx-packets': number;
  /**
   * Wall clock of the last transition to down, ms since 1970; 0 never.
   */
  'last-link-down-ms': number;
  /**
   * Wall clock of the last transition to up, ms since 1970; 0 never.
   */
  'last-link-up-ms': number;
  /**
   * Number of times the link went down.
   */
  'link-downs': number;
  /**
   * Link-layer address in effect.
   */
  'mac-address': string;
  /**
   * Bytes sent that the router or a service in its namespace made.
   */
  'own-tx-bytes': number;
  /**
   * Packets sent that the router or a service in its namespace made.
   */
  'own-tx-packets': number;
  /**
   * Factory name of the port.
   */
  port: string;
  /**
   * The netdev exists.
   */
  present: boolean;
  /**
   * Rates over the last full second.
   */
  rates: InterfaceRates;
  /**
   * Interface row; 0 for a port without a row.
   */
  row: number;
  /**
   * The netdev exists and has carrier, and the interface is enabled.
   */
  running: boolean;
  /**
   * Totals.
   */
  'rx-bytes': number;
  /**
   * Received packets that a drop reason of the interface itself ended (ring full, runt).
   */
  'rx-drops': number;
  /**
   * Receive errors of the netdev.
   */
  'rx-errors': number;
  /**
   * Packets received.
   */
  'rx-packets': number;
  /**
   * Bytes sent.
   */
  'tx-bytes': number;
  /**
   * Packets the port could not take.
   */
  'tx-drops': number;
  /**
   * Transmit errors of the netdev.
   */
  'tx-errors': number;
  /**
   * Packets sent.
   */
  'tx-packets': number;
}
/**
 * Rates over the last full second.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "InterfaceRates".
 */
export interface InterfaceRates {
  /**
   * Bits/s received on the fast path.
   */
  'fp-rx-bps': number;
  /**
   * Packets/s received on the fast path.
   */
  'fp-rx-pps': number;
  /**
   * Bits/s sent on the fast path.
   */
  'fp-tx-bps': number;
  /**
   * Packets/s sent on the fast path.
   */
  'fp-tx-pps': number;
  /**
   * Bits/s sent that the router or a service in its namespace made.
   */
  'own-tx-bps': number;
  /**
   * Packets/s sent that the router or a service in its namespace made.
   */
  'own-tx-pps': number;
  /**
   * Bits/s received.
   */
  'rx-bps': number;
  /**
   * Packets/s received that were dropped before routing.
   */
  'rx-drops-per-second': number;
  /**
   * Receive errors/s of the netdev.
   */
  'rx-errors-per-second': number;
  /**
   * Packets/s received.
   */
  'rx-pps': number;
  /**
   * Bits/s sent.
   */
  'tx-bps': number;
  /**
   * Packets/s that the port could not take.
   */
  'tx-drops-per-second': number;
  /**
   * Transmit errors/s of the netdev.
   */
  'tx-errors-per-second': number;
  /**
   * Packets/s sent.
   */
  'tx-pps': number;
}
/**
 * Packets that wait in all queues. Bytes are L3; packets count wire segments.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "QueueTotals".
 */
export interface QueueTotals {
  /**
   * Packets dropped by queues since the agent started.
   */
  'dropped-packets': number;
  /**
   * Bytes waiting.
   */
  'queued-bytes': number;
  /**
   * Packets waiting.
   */
  'queued-packets': number;
}
/**
 * Counters of a rule. Bytes are L3.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RuleStats".
 */
export interface RuleStats {
  /**
   * L3 bytes matched.
   */
  bytes: number;
  /**
   * Packets matched.
   */
  packets: number;
  /**
   * Rule row.
   */
  row: number;
}
/**
 * Packets that went through every stage for one reason.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "SlowStats".
 */
export interface SlowStats {
  /**
   * Packets since start, wire segments.
   */
  packets: number;
  /**
   * Stable name.
   */
  reason: string;
  /**
   * Sentence for people.
   */
  text: string;
}
/**
 * Connection table figures.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TrackingStats".
 */
export interface TrackingStats {
  /**
   * Tracking runs.
   */
  active: boolean;
  /**
   * Fasttracked entries now.
   */
  'fasttracked-entries': number;
  /**
   * Entries now, IPv4.
   */
  'ip4-entries': number;
  /**
   * Entries now, IPv6.
   */
  'ip6-entries': number;
  /**
   * Those of IPv6.
   */
  'ip6-fasttracked-entries': number;
  /**
   * Bound over all workers.
   */
  'max-entries': number;
  /**
   * Entries of the worker that has most: a flow stays with its worker, and so does its entry.
   */
  'worker-entries': number;
  /**
   * Bound of each worker.
   */
  'worker-max-entries': number;
}
/**
 * Time of a worker. Cycles are TSC ticks since the worker started; differences give shares.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "WorkerStats".
 */
export interface WorkerStats {
  /**
   * Connections it owns.
   */
  connections: number;
  /**
   * TSC at the snapshot, minus TSC at the worker's start.
   */
  cycles: number;
  /**
   * Packets that arrived by hand-over from another worker.
   */
  'handover-packets': number;
  /**
   * TCP segments with data, SYN or FIN that began below the highest sequence number that their connection had sent
   * in their direction before: overtaken on their way, or sent again. Only of tracked connections.
   */
  'out-of-order-packets': number;
  /**
   * Ticks per stage, in the order of the engine's table.
   */
  stages: StageStats[];
  /**
   * CPU time of the thread by the kernel's account, ns.
   */
  'thread-cpu-ns': number;
  /**
   * TSC ticks per second.
   */
  'tsc-hz': number;
}
/**
 * Time in one stage.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "StageStats".
 */
export interface StageStats {
  /**
   * Ticks.
   */
  cycles: number;
  /**
   * Stage name.
   */
  name: string;
  /**
   * Packets that entered it.
   */
  packets: number;
}
/**
 * A neighbour.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "NeighborInfo".
 */
export interface NeighborInfo {
  /**
   * Address.
   */
  address: string;
  /**
   * Interface row.
   */
  interface: number;
  /**
   * Link-layer address; absent while incomplete.
   */
  'mac-address'?: string | null;
  /**
   * Static entry's row; 0 for a learned one.
   */
  row: number;
  /**
   * State.
   */
  status: NeighborStatus;
}
/**
 * A neighbour of IPv6.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Ipv6NeighborInfo".
 */
export interface Ipv6NeighborInfo {
  /**
   * Address.
   */
  address: string;
  /**
   * Interface row.
   */
  interface: number;
  /**
   * Link-layer address; absent while incomplete.
   */
  'mac-address'?: string | null;
  /**
   * It has said that it is a router.
   */
  router: boolean;
  /**
   * Static entry's row; 0 for a learned one.
   */
  row: number;
  /**
   * State.
   */
  status: NeighborStatus;
}
/**
 * An address of the router, of IPv6.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Ipv6AddressInfo".
 */
export interface Ipv6AddressInfo {
  /**
   * The address.
   */
  address: string;
  /**
   * Interface row.
   */
  interface: number;
  /**
   * What is left of an address of an advertised network.
   */
  lifetimes?: Ipv6Lifetimes | null;
  /**
   * Prefix length of the connected network, bits.
   */
  'prefix-len': number;
  /**
   * Row of `/ipv6/address`; 0 for a link-local address that the router has made, from
   * [`FIRST_AUTOCONFIGURED_ROW`](crate::dataplane::FIRST_AUTOCONFIGURED_ROW) on for one of an advertised network.
   */
  row: number;
  /**
   * State.
   */
  state: Ipv6AddressState;
}
/**
 * The time that is left of an address (RFC 4862 §5.5.4); without end where it is missing.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Ipv6Lifetimes".
 */
export interface Ipv6Lifetimes {
  /**
   * Until it is deprecated: no new connections are made from it, s.
   */
  'preferred-s'?: number | null;
  /**
   * Until it is removed, s.
   */
  'valid-s'?: number | null;
}
/**
 * A packet and what each stage did with it.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TracedPacket".
 */
export interface TracedPacket {
  /**
   * [`DropStats::reason`] of a dropped packet.
   */
  'drop-reason'?: string | null;
  /**
   * Destination, as it came in.
   */
  'dst-address': string;
  /**
   * Destination port, as it came in.
   */
  'dst-port': number;
  /**
   * The flow cache forwarded it.
   */
  fast: boolean;
  /**
   * Interface it came in on; 0 for packets of the router itself.
   */
  'in-interface': number;
  /**
   * Length of the IP packet on the wire, bytes; of a super-frame that of its full segments.
   */
  length: number;
  /**
   * Counts up from 1 within the trace.
   */
  number: number;
  /**
   * Interface it left by, or was to leave by when it came to its queue; 0 for none.
   */
  'out-interface': number;
  /**
   * Outcome of the packet.
   */
  outcome: TraceOutcome;
  /**
   * Protocol number.
   */
  protocol: number;
  /**
   * Packets that it is on the wire: the segments of a super-frame, else 1.
   */
  segments: number;
  /**
   * [`SlowStats::reason`] for which the flow cache did not.
   */
  'slow-reason'?: string | null;
  /**
   * Source, as it came in.
   */
  'src-address': string;
  /**
   * Source port, as it came in; ICMP identifier.
   */
  'src-port': number;
  /**
   * Decisions of the stages that saw it, in order.
   */
  steps: TraceStep[];
  /**
   * When, milliseconds since 1970.
   */
  'time-ms': number;
  /**
   * Worker that handled it last.
   */
  worker: number;
}
/**
 * Decision of a stage about a packet.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TraceStep".
 */
export interface TraceStep {
  /**
   * Sentence for people, without names of the configuration.
   */
  decision: string;
  /**
   * Rows of the rules that matched, of the route, or of the queue, in order.
   */
  rows: number[];
  /**
   * Name of the stage.
   */
  stage: string;
}
/**
 * Refusal of a request.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ErrorReply".
 */
export interface ErrorReply {
  /**
   * Machine-readable reason.
   */
  code: ErrorCode;
  /**
   * Number of the request.
   */
  id: number;
  /**
   * For people: what failed, and what would be accepted.
   */
  message: string;
  /**
   * Configuration row at fault.
   */
  row?: number | null;
}
/**
 * Client to agent.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Request".
 */
export interface Request {
  /**
   * Request.
   */
  body: RequestBody;
  /**
   * Chosen by the client, echoed in the reply.
   */
  id: number;
}
/**
 * An entry that a list has beside the configuration.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "DynamicAddress".
 */
export interface DynamicAddress {
  /**
   * First address.
   */
  address: string;
  /**
   * Name of the list.
   */
  list: string;
  /**
   * Length of the prefix, bits.
   */
  'prefix-len': number;
  /**
   * Life, milliseconds; 0 until the agent ends.
   */
  'timeout-ms': number;
}
/**
 * Packets that a trace notes: every condition given holds. Packets against the described direction are noted
 * too, and packets are compared as they come in.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TraceFilter".
 */
export interface TraceFilter {
  /**
   * Only packets that are dropped.
   */
  dropped: boolean;
  /**
   * Destination.
   */
  'dst-address'?: Prefix | null;
  /**
   * Destination port.
   */
  'dst-port'?: number | null;
  /**
   * Interface the packet comes in on; compared for the described direction only.
   */
  'in-interface'?: number | null;
  /**
   * Protocol number.
   */
  protocol?: number | null;
  /**
   * Source.
   */
  'src-address'?: Prefix | null;
  /**
   * Source port; ICMP identifier.
   */
  'src-port'?: number | null;
}
/**
 * A packet for [`RequestBody::DryRun`].
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "PacketDescription".
 */
export interface PacketDescription {
  /**
   * Destination.
   */
  'dst-address': string;
  /**
   * Destination port; 0 without ports.
   */
  'dst-port': number;
  /**
   * ICMP code.
   */
  'icmp-code': number;
  /**
   * ICMP type; 8 (echo request) where nothing is said.
   */
  'icmp-type': number;
  /**
   * Interface it comes in on; `None` for a packet of the router itself.
   */
  'in-interface'?: number | null;
  /**
   * Length of the IP packet, bytes.
   */
  length: number;
  /**
   * Protocol number.
   */
  protocol: number;
  /**
   * Source.
   */
  'src-address': string;
  /**
   * Source port; 0 without ports.
   */
  'src-port': number;
  /**
   * TCP flags as on the wire; SYN where nothing is said.
   */
  'tcp-flags': number;
  /**
   * Time to live.
   */
  ttl: number;
}
