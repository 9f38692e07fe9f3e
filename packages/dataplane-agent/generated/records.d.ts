// Generated from the Rust types by scripts/gen.mjs. Do not edit.

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export declare const connectionRecord: {
  readonly size: 162;
  /** Worker in the top byte; an id is not reused while the agent lives. */
  readonly id: 0;
  /** IP protocol. */
  readonly protocol: 8;
  /** 4 or 6. */
  readonly family: 9;
  /** Bits of `connection_flag`. */
  readonly flags: 10;
  /** TCP state, one of `tcp_state`; 255 not TCP. */
  readonly tcpState: 12;
  /** ICMP type. */
  readonly icmpType: 13;
  /** ICMP code. */
  readonly icmpCode: 14;
  /** Why its packets are not all forwarded by the flow cache: place in the reasons of the statistics from 1, 0 when they are. */
  readonly slowReason: 15;
  /** Original source address. */
  readonly srcAddress: 16;
  /** Original destination address. */
  readonly dstAddress: 32;
  /** Reply source address. */
  readonly replySrcAddress: 48;
  /** Reply destination address. */
  readonly replyDstAddress: 64;
  /** Original source port, ICMP id for ICMP. */
  readonly srcPort: 80;
  /** Original destination port. */
  readonly dstPort: 82;
  /** Reply source port. */
  readonly replySrcPort: 84;
  /** Reply destination port, ICMP id for ICMP. */
  readonly replyDstPort: 86;
  /** Time to expiry, ms. */
  readonly timeout: 88;
  /** Connection mark. */
  readonly mark: 92;
  /** Packets, original direction. */
  readonly origPackets: 96;
  /** L3 bytes, original direction. */
  readonly origBytes: 104;
  /** Packets, reply direction. */
  readonly replPackets: 112;
  /** L3 bytes, reply direction. */
  readonly replBytes: 120;
  /** Fasttracked packets, original direction. */
  readonly origFasttrackPackets: 128;
  /** Fasttracked L3 bytes, original direction. */
  readonly origFasttrackBytes: 136;
  /** Fasttracked packets, reply direction. */
  readonly replFasttrackPackets: 144;
  /** Fasttracked L3 bytes, reply direction. */
  readonly replFasttrackBytes: 152;
  /** Zone of the first packet, 0 outside of VRFs. */
  readonly zone: 160;
};

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export declare const queueRecord: {
  readonly size: 104;
  /** Row of `/queue/simple` or `/queue/tree`, of an interface for its queue. */
  readonly row: 0;
  /** Worker. */
  readonly worker: 4;
  /** Part of the queue, one of `queue_part`. */
  readonly part: 6;
  /** Zero. */
  readonly reserved: 7;
  /** Bytes that passed. */
  readonly bytes: 8;
  /** Packets that passed. */
  readonly packets: 16;
  /** Packets dropped. */
  readonly dropped: 24;
  /** Rate of the last full second, bits/s. */
  readonly rate: 32;
  /** Packets/s of the last full second. */
  readonly packetRate: 40;
  /** Bytes waiting. */
  readonly queuedBytes: 48;
  /** Packets waiting. */
  readonly queuedPackets: 56;
  /** Sub-queues in use of PCQ, SFQ, FQ-CoDel and CAKE. */
  readonly subQueues: 60;
  /** Packets for which it borrowed. */
  readonly borrows: 64;
  /** Packets for which it lent. */
  readonly lends: 72;
  /** Packets marked (ECN). */
  readonly marked: 80;
  /** Longest wait of a packet in the last full second, µs. */
  readonly longestWait: 88;
  /** Average wait of those that waited in the last full second, µs. */
  readonly averageWait: 92;
  /** TCP segments that came out of order. */
  readonly outOfOrder: 96;
};

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export declare const tokenBucketRecord: {
  readonly size: 64;
  /** Number of the millisecond, monotonic time. */
  readonly millisecond: 0;
  /** Upload of a simple queue, all of a node of a tree. */
  readonly upload: 8;
  /** Download of a simple queue. */
  readonly download: 36;
};

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export declare const tokenBucketPart: {
  readonly size: 28;
  /** L3 bytes that passed. */
  readonly passed: 0;
  /** Packets dropped. */
  readonly dropped: 4;
  /** L3 bytes waiting at the end. */
  readonly waiting: 8;
  /** Tokens at the end, bits; below zero what was passed in advance. */
  readonly tokens: 12;
  /** Longest wait of a packet that passed, µs. */
  readonly longestWait: 20;
  /** Rate at which tokens came, kbit/s. */
  readonly rateKbit: 24;
};

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export declare const routeRecord: {
  readonly size: 28;
  /** Destination network, as a number. */
  readonly destination: 0;
  /** Bits. */
  readonly prefixLen: 4;
  /** 0 for connected. */
  readonly distance: 5;
  /** Bits of `route_flag`. */
  readonly flags: 6;
  /** Routing protocol number (rtnetlink(7)) of a route of another program, 0 of others. */
  readonly protocol: 8;
  /** Number of its table, 0 for the main table. */
  readonly table: 10;
  /** Address of the neighbour that packets are sent to, as a number; 0 without one. */
  readonly gateway: 12;
  /** Interface row that it leaves by; 0 when it leads nowhere. */
  readonly interface: 16;
  /** Row of a configured route; row of the address that a connected one follows from. */
  readonly row: 20;
  /** Metric of a route of another program. */
  readonly metric: 24;
};

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export declare const ipv6RouteRecord: {
  readonly size: 52;
  /** Destination network. */
  readonly destination: 0;
  /** Next hop's address; the unspecified one without one. */
  readonly gateway: 16;
  /** Bits. */
  readonly prefixLen: 32;
  /** 0 for connected. */
  readonly distance: 33;
  /** Bits of `route_flag`. */
  readonly flags: 34;
  /** Routing protocol number (rtnetlink(7)) of a route of another program, 0 of others. */
  readonly protocol: 36;
  /** Number of its table, 0 for the main table. */
  readonly table: 38;
  /** Interface row that it leaves by; 0 when it leads nowhere. */
  readonly interface: 40;
  /** Row of a configured route; row of the address that a connected one follows from. */
  readonly row: 44;
  /** Metric of a route of another program. */
  readonly metric: 48;
};

/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */
export declare const addressListRecord: {
  readonly size: 32;
  /** Position in the names of the lists. */
  readonly list: 0;
  /** 4 or 6. */
  readonly family: 4;
  /** Bits. */
  readonly prefixLen: 5;
  /** Zero. */
  readonly reserved: 6;
  /** The network. */
  readonly address: 8;
  /** Time left, ms; `NO_END` without end. */
  readonly left: 24;
  /** Age, s. */
  readonly age: 28;
};

export declare const connectionFlag: {
  readonly 'seen-reply': 1;
  readonly assured: 2;
  readonly confirmed: 4;
  readonly fasttrack: 8;
  readonly srcnat: 16;
  readonly dstnat: 32;
  readonly dying: 64;
  readonly 'hw-offload': 128;
};

export declare const tcpState: {
  readonly none: 0;
  readonly 'syn-sent': 1;
  readonly 'syn-recv': 2;
  readonly established: 3;
  readonly 'fin-wait': 4;
  readonly 'close-wait': 5;
  readonly 'last-ack': 6;
  readonly 'time-wait': 7;
  readonly close: 8;
  readonly listen: 9;
};

export declare const queuePart: {
  readonly upload: 0;
  readonly download: 1;
  readonly total: 2;
  readonly whole: 3;
  readonly interface: 4;
};

export declare const routeFlag: {
  readonly active: 1;
  readonly connected: 2;
  readonly static: 4;
  readonly blackhole: 8;
  readonly unreachable: 16;
  readonly prohibit: 32;
  readonly multipath: 64;
  readonly ecmp: 128;
  readonly further: 256;
};

/** Version of the message set. */
export declare const PROTOCOL: 16;
/** Version of the configuration's format. */
export declare const FORMAT: 7;
/** Levels that a tree of queues has at most, the root's included. */
export declare const MAX_QUEUE_LEVELS: 8;
/** Jumps inside jumps that a chain of rules has at most. */
export declare const MAX_JUMP_DEPTH: 16;
/** Interfaces at most, of all types. */
export declare const MAX_INTERFACES: 4096;
/** VLANs one on the other that an interface has at most. */
export declare const MAX_VLAN_TAGS: 4;
/** Routing tables beside the main table at most. */
export declare const MAX_ROUTING_TABLES: 4096;
/** Largest frame either side accepts, bytes. */
export declare const MAX_FRAME: 268435456;
/** Traces that are followed at a time. */
export declare const MAX_TRACES: 4;
/** Queues whose milliseconds are noted at a time. */
export declare const MAX_TOKEN_BUCKETS: 4;
/** First row of addresses that the router makes itself in advertised networks. */
export declare const FIRST_AUTOCONFIGURED_ROW: 805306368;
/** First id of rows that the agent makes itself. */
export declare const FIRST_DYNAMIC_ROW: 2147483648;
/** Time left of an address list entry that stays until the agent ends. */
export declare const NO_END: 4294967295;
