/** The agent's message set, generated from `crates/config/src/protocol/`. */
import type {
  ErrorReply,
  Ipv6NeighborInfo,
  NeighborInfo,
  ReplyBody,
  RequestBody as WireRequestBody,
} from '@tollway/dataplane-agent';

export type {
  CoreStats,
  DataplaneConfig,
  DynamicAddress,
  InterfaceStats,
  Message,
  NeighborInfo,
  PacketDescription,
  PortInfo,
  SlowStats,
  TracedPacket,
  TraceFilter,
  TraceStep,
} from '@tollway/dataplane-agent';

/** A neighbour of either family. Only of IPv6 is it known whether it is a router. */
export type Neighbor = NeighborInfo & Partial<Pick<Ipv6NeighborInfo, 'router'>>;

/** Connection ids use all 64 bits, so they travel as `bigint`. */
export type RequestBody =
  | Exclude<WireRequestBody, { op: 'remove-connections' }>
  | { op: 'remove-connections'; ids: readonly bigint[] };

export type Hello = Extract<ReplyBody, { op: 'hello' }>;
export type Stats = Extract<ReplyBody, { op: 'stats' }>;
export type Connections = Extract<ReplyBody, { op: 'connections' }>;
export type Queues = Extract<ReplyBody, { op: 'queues' }>;
export type TokenBucket = Extract<ReplyBody, { op: 'token-bucket' }>;
export type AddressListEntries = Extract<ReplyBody, { op: 'address-list-entries' }>;
export type Routes = Extract<ReplyBody, { op: 'routes' }>;
type RouteTo = Extract<ReplyBody, { op: 'route-to' }>;
export type Trace = Extract<ReplyBody, { op: 'trace' }>;
type Done = Extract<ReplyBody, { op: 'done' }>;

/** Type of the answer to each request. */
export interface ReplyFor {
  readonly hello: Hello;
  readonly prepare: Extract<ReplyBody, { op: 'prepared' }>;
  readonly activate: Extract<ReplyBody, { op: 'activated' }>;
  readonly discard: Done;
  readonly stats: Stats;
  readonly connections: Connections;
  readonly queues: Queues;
  readonly 'token-bucket': TokenBucket;
  readonly 'reset-queue-counters': Queues;
  readonly 'remove-connections': Done;
  readonly neighbors: Extract<ReplyBody, { op: 'neighbors' }>;
  readonly 'remove-neighbor': Done;
  readonly 'ipv6-neighbors': Extract<ReplyBody, { op: 'ipv6-neighbors' }>;
  readonly 'remove-ipv6-neighbor': Done;
  readonly 'ipv6-addresses': Extract<ReplyBody, { op: 'ipv6-addresses' }>;
  readonly routes: Routes;
  readonly 'ipv6-routes': Extract<ReplyBody, { op: 'ipv6-routes' }>;
  readonly 'route-to': RouteTo;
  readonly 'reset-counters': Done;
  readonly 'reset-interface-counters': Done;
  readonly 'address-list-entries': AddressListEntries;
  readonly 'add-address-list-entries': Done;
  readonly 'remove-address-list-entries': Done;
  readonly 'start-trace': Extract<ReplyBody, { op: 'trace-started' }>;
  readonly trace: Trace;
  readonly 'stop-trace': Done;
  readonly 'dry-run': Trace;
}

/** The agent has refused a request. */
export class AgentRefusal extends Error {
  readonly code: ErrorReply['code'];
  /** Id of the configuration row at fault. */
  readonly row: number | undefined;

  constructor(reply: Pick<ErrorReply, 'code' | 'message' | 'row'>) {
    super(reply.message);
    this.name = 'AgentRefusal';
    this.code = reply.code;
    this.row = reply.row ?? undefined;
  }
}

/** The agent is not connected, or the connection was lost before its answer. */
export class AgentGone extends Error {
  constructor(message = 'the data plane agent is not connected') {
    super(message);
    this.name = 'AgentGone';
  }
}

/** The agent is connected and did not answer in time. */
export class AgentSilent extends AgentGone {
  constructor(op: string, timeoutMs: number) {
    super(`the data plane agent did not answer "${op}" within ${timeoutMs / 1000} s`);
    this.name = 'AgentSilent';
  }
}
