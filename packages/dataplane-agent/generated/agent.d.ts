// Generated from the Rust types by scripts/gen.mjs. Do not edit.

/**
 * What a match does. The API's compiler never puts an action into a table that does not know it;
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
      kind: 'redirect';
      /**
       * New ports.
       */
      'to-ports'?: PortRange | null;
    };
/**
 * How a rejected packet is answered.
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
  | 'tcp-reset';
/**
 * One condition of a rule. `negate` inverts it.
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
       * Index into [`DataplaneConfig::address_lists`].
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
       * Index into [`DataplaneConfig::address_lists`].
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
    };
/**
 * Connection state (RouterOS `connection-state`).
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ConnectionState".
 */
export type ConnectionState = 'invalid' | 'established' | 'related' | 'new' | 'untracked';
/**
 * How ARP behaves on an interface.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ArpMode".
 */
export type ArpMode = 'disabled' | 'enabled' | 'proxy-arp' | 'reply-only' | 'local-proxy-arp';
/**
 * What a route does.
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
      kind: 'blackhole';
    };
/**
 * Reverse path check (RFC 3704).
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RpFilter".
 */
export type RpFilter = 'no' | 'strict' | 'loose';
/**
 * When connections are tracked.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "TrackingMode".
 */
export type TrackingMode = 'auto' | 'yes' | 'no';
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
    ) & {
      type: 'event';
    });
/**
 * What a request brings.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ReplyBody".
 */
export type ReplyBody =
  | {
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
       * SHA-256 of the active configuration as it lies on disk, hex; empty for revision 0.
       */
      sha256: string;
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
      op: 'activated';
      /**
       * Now active.
       */
      revision: number;
      /**
       * SHA-256 as in [`ReplyBody::Hello`].
       */
      sha256: string;
    }
  | {
      /**
       * How many things were touched.
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
       * All simple queues together.
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
       * The table.
       */
      neighbors: NeighborInfo[];
      op: 'neighbors';
    }
  | {
      op: 'routes';
      /**
       * Connected and static routes with their state.
       */
      routes: RouteInfo[];
    };
/**
 * Port backends.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "IoBackend".
 */
export type IoBackend = 'af-packet' | 'memory';
/**
 * State of a neighbour (RFC 4861 §7.3.2's names, as Linux applies them to ARP).
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "NeighborStatus".
 */
export type NeighborStatus = 'incomplete' | 'reachable' | 'stale' | 'probe' | 'failed' | 'permanent';
/**
 * Why a request was refused.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "ErrorCode".
 */
export type ErrorCode = 'bad-request' | 'bad-config' | 'stale-base' | 'unknown-token' | 'internal';
/**
 * What a client can ask.
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
      op: 'neighbors';
    }
  | {
      /**
       * Its address.
       */
      address: string;
      /**
       * Interface row.
       */
      interface: number;
      op: 'remove-neighbor';
    }
  | {
      op: 'routes';
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
   * `/ip/address`, without disabled and invalid rows.
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
   * L3 interfaces. Every `RowId` that names an interface elsewhere is one of these rows.
   */
  interfaces: Interface[];
  /**
   * `/ip/firewall/nat`; the chains `srcnat` and `dstnat` are the hooks.
   */
  nat: Chain[];
  /**
   * `/ip/arp`, static entries.
   */
  neighbors: StaticNeighbor[];
  /**
   * `/ip/route`, static routes only; connected ones follow from `addresses`.
   */
  routes: Route[];
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
   * Address of the connected network; differs from `address` masked only for point-to-point pairs.
   */
  network: string;
  /**
   * Prefix length of the connected network, bits.
   */
  'prefix-len': number;
  /**
   * Row of `/ip/address`.
   */
  row: number;
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
   * What a match does.
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
 * An L3 interface on a claimed port.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "Interface".
 */
export interface Interface {
  /**
   * How ARP behaves here.
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
   * Link-layer address to use instead of the port's own, `aa:bb:cc:dd:ee:ff`.
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
   * Factory name of the port that carries it (`ether1`, `ether2` …). A port that is absent makes
   * the interface not running; it is no error.
   */
  port: string;
  /**
   * Row of `/interface/ethernet`.
   */
  row: number;
}
/**
 * A static ARP entry.
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
   * Answer ARP requests for the address.
   */
  published: boolean;
  /**
   * Row of `/ip/arp`.
   */
  row: number;
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
   * Source address for packets of the router itself.
   */
  'pref-src'?: string | null;
  /**
   * Prefix length, bits.
   */
  'prefix-len': number;
  /**
   * Row of `/ip/route`.
   */
  row: number;
  /**
   * What happens to a packet that takes the route.
   */
  target: RouteTarget;
}
/**
 * `/ip/settings`.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "IpSettings".
 */
export interface IpSettings {
  /**
   * `false` sends every packet through every stage.
   */
  'allow-fast-path': boolean;
  /**
   * Base reachable time of ARP entries, milliseconds.
   */
  'arp-timeout-ms': number;
  /**
   * Smallest interval between two ICMP errors to one target, milliseconds; 0 is unlimited.
   */
  'icmp-rate-limit-ms': number;
  /**
   * Forward packets between interfaces.
   */
  'ip-forward': boolean;
  /**
   * Upper bound of the neighbour table, entries.
   */
  'max-neighbor-entries': number;
  /**
   * Reverse path check on source addresses (RFC 3704).
   */
  'rp-filter': RpFilter;
}
/**
 * A simple queue. The first one in list order that a packet fits takes it: as *download* when the
 * destination (after its translation) is in a target, else as *upload* when the source (before its
 * translation) is.
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
   * Row of `/queue/simple`.
   */
  row: number;
  /**
   * Whose traffic it holds; not empty.
   */
  targets: Prefix[];
  /**
   * From the targets.
   */
  upload: QueueLimit;
}
/**
 * How one direction of a simple queue is held to its rate.
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
   * L3 bits per second, over wire segments; 0 no limit.
   */
  'max-limit': number;
  /**
   * Packets that may wait; the next one is dropped.
   */
  'packet-limit': number;
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
   * Of the request.
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
 * What the workers did on one core. A worker runs where the kernel puts it, so that several may share a
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
   * Of which no worker was busy.
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
   * Their bytes.
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
   * Their bytes.
   */
  'fasttrack-bytes': number;
  /**
   * Packets of fasttracked connections forwarded by the flow cache.
   */
  'fasttrack-packets': number;
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
   * How often the link went down.
   */
  'link-downs': number;
  /**
   * Link-layer address in effect.
   */
  'mac-address': string;
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
   * Bits/s received.
   */
  'rx-bps': number;
  /**
   * Packets/s received.
   */
  'rx-pps': number;
  /**
   * Bits/s sent.
   */
  'tx-bps': number;
  /**
   * Packets/s sent.
   */
  'tx-pps': number;
}
/**
 * What waits in all simple queues together. Bytes are L3; packets count wire segments.
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
   * Bound.
   */
  'max-entries': number;
}
/**
 * What a worker did. Cycles are TSC ticks since the worker started; differences give shares.
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
 * A route and its state.
 *
 * This interface was referenced by `Agent`'s JSON-Schema
 * via the `definition` "RouteInfo".
 */
export interface RouteInfo {
  /**
   * In the FIB.
   */
  active: boolean;
  /**
   * Row of the address a connected route follows from; 0 for a static one.
   */
  'address-row': number;
  /**
   * Destination network.
   */
  destination: string;
  /**
   * Preference; 0 for connected.
   */
  distance: number;
  /**
   * Resolved next hop, if any.
   */
  gateway?: string | null;
  /**
   * Interface row the route leaves by; 0 when unresolved or blackhole.
   */
  interface: number;
  /**
   * Prefix length, bits.
   */
  'prefix-len': number;
  /**
   * Static route's row; 0 for a connected one.
   */
  row: number;
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
   * Of the request.
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
   * What is asked.
   */
  body: RequestBody;
  /**
   * Chosen by the client, echoed in the reply.
   */
  id: number;
}
