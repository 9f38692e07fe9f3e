// Generated from the Rust types by scripts/gen.mjs. Do not edit.

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export const connectionRecord = Object.freeze({
  size: 162,
  /** Worker in the top byte; an id is not reused while the agent lives. */
  id: 0,
  /** IP protocol. */
  protocol: 8,
  /** 4 or 6. */
  family: 9,
  /** Bits of `connection_flag`. */
  flags: 10,
  /** TCP state, one of `tcp_state`; 255 not TCP. */
  tcpState: 12,
  /** ICMP type. */
  icmpType: 13,
  /** ICMP code. */
  icmpCode: 14,
  /** Why its packets are not all forwarded by the flow cache: place in the reasons of the statistics from 1, 0 when they are. */
  slowReason: 15,
  /** Original source address. */
  srcAddress: 16,
  /** Original destination address. */
  dstAddress: 32,
  /** Reply source address. */
  replySrcAddress: 48,
  /** Reply destination address. */
  replyDstAddress: 64,
  /** Original source port, ICMP id for ICMP. */
  srcPort: 80,
  /** Original destination port. */
  dstPort: 82,
  /** Reply source port. */
  replySrcPort: 84,
  /** Reply destination port, ICMP id for ICMP. */
  replyDstPort: 86,
  /** Time to expiry, ms. */
  timeout: 88,
  /** Connection mark. */
  mark: 92,
  /** Packets, original direction. */
  origPackets: 96,
  /** L3 bytes, original direction. */
  origBytes: 104,
  /** Packets, reply direction. */
  replPackets: 112,
  /** L3 bytes, reply direction. */
  replBytes: 120,
  /** Fasttracked packets, original direction. */
  origFasttrackPackets: 128,
  /** Fasttracked L3 bytes, original direction. */
  origFasttrackBytes: 136,
  /** Fasttracked packets, reply direction. */
  replFasttrackPackets: 144,
  /** Fasttracked L3 bytes, reply direction. */
  replFasttrackBytes: 152,
  /** Zone of the first packet, 0 outside of VRFs. */
  zone: 160,
});

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export const queueRecord = Object.freeze({
  size: 104,
  /** Row of `/queue/simple` or `/queue/tree`, of an interface for its queue. */
  row: 0,
  /** Worker. */
  worker: 4,
  /** Part of the queue, one of `queue_part`. */
  part: 6,
  /** Zero. */
  reserved: 7,
  /** Bytes that passed. */
  bytes: 8,
  /** Packets that passed. */
  packets: 16,
  /** Packets dropped. */
  dropped: 24,
  /** Rate of the last full second, bits/s. */
  rate: 32,
  /** Packets/s of the last full second. */
  packetRate: 40,
  /** Bytes waiting. */
  queuedBytes: 48,
  /** Packets waiting. */
  queuedPackets: 56,
  /** Sub-queues in use of PCQ, SFQ, FQ-CoDel and CAKE. */
  subQueues: 60,
  /** Packets for which it borrowed. */
  borrows: 64,
  /** Packets for which it lent. */
  lends: 72,
  /** Packets marked (ECN). */
  marked: 80,
  /** Longest wait of a packet in the last full second, µs. */
  longestWait: 88,
  /** Average wait of those that waited in the last full second, µs. */
  averageWait: 92,
  /** TCP segments that came out of order. */
  outOfOrder: 96,
});

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export const tokenBucketRecord = Object.freeze({
  size: 64,
  /** Number of the millisecond, monotonic time. */
  millisecond: 0,
  /** Upload of a simple queue, all of a node of a tree. */
  upload: 8,
  /** Download of a simple queue. */
  download: 36,
});

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export const tokenBucketPart = Object.freeze({
  size: 28,
  /** L3 bytes that passed. */
  passed: 0,
  /** Packets dropped. */
  dropped: 4,
  /** L3 bytes waiting at the end. */
  waiting: 8,
  /** Tokens at the end, bits; below zero what was passed in advance. */
  tokens: 12,
  /** Longest wait of a packet that passed, µs. */
  longestWait: 20,
  /** Rate at which tokens came, kbit/s. */
  rateKbit: 24,
});

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export const routeRecord = Object.freeze({
  size: 28,
  /** Destination network, as a number. */
  destination: 0,
  /** Bits. */
  prefixLen: 4,
  /** 0 for connected. */
  distance: 5,
  /** Bits of `route_flag`. */
  flags: 6,
  /** Routing protocol number (rtnetlink(7)) of a route of another program, 0 of others. */
  protocol: 8,
  /** Number of its table, 0 for the main table. */
  table: 10,
  /** Address of the neighbour that packets are sent to, as a number; 0 without one. */
  gateway: 12,
  /** Interface row that it leaves by; 0 when it leads nowhere. */
  interface: 16,
  /** Row of a configured route; row of the address that a connected one follows from. */
  row: 20,
  /** Metric of a route of another program. */
  metric: 24,
});

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export const ipv6RouteRecord = Object.freeze({
  size: 52,
  /** Destination network. */
  destination: 0,
  /** Next hop's address; the unspecified one without one. */
  gateway: 16,
  /** Bits. */
  prefixLen: 32,
  /** 0 for connected. */
  distance: 33,
  /** Bits of `route_flag`. */
  flags: 34,
  /** Routing protocol number (rtnetlink(7)) of a route of another program, 0 of others. */
  protocol: 36,
  /** Number of its table, 0 for the main table. */
  table: 38,
  /** Interface row that it leaves by; 0 when it leads nowhere. */
  interface: 40,
  /** Row of a configured route; row of the address that a connected one follows from. */
  row: 44,
  /** Metric of a route of another program. */
  metric: 48,
});

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export const addressListRecord = Object.freeze({
  size: 32,
  /** Position in the names of the lists. */
  list: 0,
  /** 4 or 6. */
  family: 4,
  /** Bits. */
  prefixLen: 5,
  /** Zero. */
  reserved: 6,
  /** The network. */
  address: 8,
  /** Time left, ms; `NO_END` without end. */
  left: 24,
  /** Age, s. */
  age: 28,
});

export const connectionFlag = Object.freeze({
  'seen-reply': 1,
  assured: 2,
  confirmed: 4,
  fasttrack: 8,
  srcnat: 16,
  dstnat: 32,
  dying: 64,
  'hw-offload': 128,
});

export const tcpState = Object.freeze({
  none: 0,
  'syn-sent': 1,
  'syn-recv': 2,
  established: 3,
  'fin-wait': 4,
  'close-wait': 5,
  'last-ack': 6,
  'time-wait': 7,
  close: 8,
  listen: 9,
});

export const queuePart = Object.freeze({
  upload: 0,
  download: 1,
  total: 2,
  whole: 3,
  interface: 4,
});

export const routeFlag = Object.freeze({
  active: 1,
  connected: 2,
  static: 4,
  blackhole: 8,
  unreachable: 16,
  prohibit: 32,
  multipath: 64,
  ecmp: 128,
  further: 256,
});

/** Version of the message set. */
export const PROTOCOL = 16;
/** Version of the configuration's format. */
export const FORMAT = 7;
/** Levels that a tree of queues has at most, the root's included. */
export const MAX_QUEUE_LEVELS = 8;
/** Jumps inside jumps that a chain of rules has at most. */
export const MAX_JUMP_DEPTH = 16;
/** Interfaces at most, of all types. */
export const MAX_INTERFACES = 4096;
/** VLANs one on the other that an interface has at most. */
export const MAX_VLAN_TAGS = 4;
/** Routing tables beside the main table at most. */
export const MAX_ROUTING_TABLES = 4096;
/** Largest frame either side accepts, bytes. */
export const MAX_FRAME = 268435456;
/** Traces that are followed at a time. */
export const MAX_TRACES = 4;
/** Queues whose milliseconds are noted at a time. */
export const MAX_TOKEN_BUCKETS = 4;
/** First row of addresses that the router makes itself in advertised networks. */
export const FIRST_AUTOCONFIGURED_ROW = 805306368;
/** First id of rows that the agent makes itself. */
export const FIRST_DYNAMIC_ROW = 2147483648;
/** Time left of an address list entry that stays until the agent ends. */
export const NO_END = 4294967295;
