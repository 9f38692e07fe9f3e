import { setTimeout as sleep } from 'node:timers/promises';
import type { Ipv6AddressInfo } from '@tollway/dataplane-agent';
import { PROTOCOL } from '@tollway/dataplane-agent/records';
import type { AddressFamily } from '@tollway/schema';
import { AddressListDump, EntryMemory } from '../agent/address-list-entries.js';
import { ConnectionDump, type ConnectionSnapshot } from '../agent/connections.js';
import { AgentGone, type Neighbor, type PortInfo, type Stats } from '../agent/messages.js';
import type { AgentPort } from '../agent/port.js';
import { QueueDump } from '../agent/queues.js';
import { RouteDump } from '../agent/routes.js';
import { BASE_AGE_MS, ConnectionRateBase } from './connection-rate-base.js';

/**
 * Live state of the data plane, read on request. Concurrent requests share one reading, and `maxAgeMs` lets viewers
 * share an earlier one. Results are `undefined` while the agent is not connected.
 */
export class LiveState {
  readonly #agent: AgentPort;
  readonly #stats: SharedReading<Stats>;
  readonly #connections: SharedReading<ConnectionDump>;
  readonly #queues: SharedReading<QueueDump>;
  readonly #neighbors: SharedReading<readonly Neighbor[]>;
  readonly #routes: SharedReading<RouteDump>;
  readonly #ipv6Neighbors: SharedReading<readonly Neighbor[]>;
  readonly #ipv6Addresses: SharedReading<readonly Ipv6AddressInfo[]>;
  readonly #ipv6Routes: SharedReading<RouteDump>;
  readonly #ports: SharedReading<readonly PortInfo[]>;
  readonly #addressLists: SharedReading<AddressListDump>;
  /** Ids of the entries of address lists, and the times at which the entries were created. */
  readonly entryMemory = new EntryMemory();

  constructor(agent: AgentPort) {
    this.#agent = agent;
    this.#stats = new SharedReading(() => agent.request({ op: 'stats' }));
    // The order of the reasons is constant while an agent runs.
    let slowReasons: readonly string[] | undefined;
    const rateBase = new ConnectionRateBase<ConnectionSnapshot>();
    this.#connections = new SharedReading(async (reading, at) => {
      slowReasons ??= (await agent.request({ op: 'stats' })).slow.map(({ reason }) => reason);
      const reply = await agent.request({ op: 'connections' });
      const last = reading && { reading: reading.snapshot, at };
      return new ConnectionDump(reply, rateBase.choose(last, performance.now()), slowReasons);
    });
    this.#queues = new SharedReading(async () => new QueueDump(await agent.request({ op: 'queues' })));
    this.#neighbors = new SharedReading<readonly Neighbor[]>(
      async () => (await agent.request({ op: 'neighbors' })).neighbors,
    );
    this.#routes = new SharedReading(async () => new RouteDump(await agent.request({ op: 'routes' }), 'ip'));
    this.#ipv6Neighbors = new SharedReading<readonly Neighbor[]>(
      async () => (await agent.request({ op: 'ipv6-neighbors' })).neighbors,
    );
    this.#ipv6Addresses = new SharedReading<readonly Ipv6AddressInfo[]>(
      async () => (await agent.request({ op: 'ipv6-addresses' })).addresses,
    );
    this.#ipv6Routes = new SharedReading(async () => new RouteDump(await agent.request({ op: 'ipv6-routes' }), 'ipv6'));
    // A port's backend may change while the agent runs, so that its ports are requested again.
    this.#ports = new SharedReading<readonly PortInfo[]>(
      async () => (await agent.request({ op: 'hello', protocol: PROTOCOL })).ports,
    );
    this.#addressLists = new SharedReading(
      async () =>
        new AddressListDump(await agent.request({ op: 'address-list-entries' }), this.entryMemory, Date.now()),
    );
    agent.onDown(() => {
      slowReasons = undefined;
      rateBase.forget();
      const readings = [
        this.#stats,
        this.#connections,
        this.#queues,
        this.#neighbors,
        this.#routes,
        this.#ipv6Neighbors,
        this.#ipv6Addresses,
        this.#ipv6Routes,
        this.#ports,
        this.#addressLists,
      ];
      for (const reading of readings) reading.forget();
    });
  }

  get connected(): boolean {
    return this.#agent.hello !== undefined;
  }

  get agent(): AgentPort {
    return this.#agent;
  }

  stats(maxAgeMs = 0): Promise<Stats | undefined> {
    return this.#stats.read(maxAgeMs);
  }

  /** @param withRates waits for a second reading if there is no earlier one to compute rates with */
  async connections(maxAgeMs = 0, withRates = false): Promise<ConnectionDump | undefined> {
    let dump = await this.#connections.read(maxAgeMs);
    // A timer may fire a little early, and a shared reading may have started a little too early.
    for (let wait = BASE_AGE_MS.min; withRates && dump?.hasRates === false && dump.count > 0; wait = RETRY_MS) {
      await sleep(wait);
      dump = await this.#connections.read(0);
    }
    return dump;
  }

  queues(maxAgeMs = 0): Promise<QueueDump | undefined> {
    return this.#queues.read(maxAgeMs);
  }

  /** Neighbours of a family. */
  neighbors(family: AddressFamily, maxAgeMs = 0): Promise<readonly Neighbor[] | undefined> {
    return (family === 'ip' ? this.#neighbors : this.#ipv6Neighbors).read(maxAgeMs);
  }

  /** The present ports. */
  ports(maxAgeMs = 0): Promise<readonly PortInfo[] | undefined> {
    return this.#ports.read(maxAgeMs);
  }

  /** Dynamic entries of address lists. */
  addressLists(maxAgeMs = 0): Promise<AddressListDump | undefined> {
    return this.#addressLists.read(maxAgeBySize(maxAgeMs, this.#addressLists.last));
  }

  /** The router's own addresses of IPv6, with those that it has made. */
  ipv6Addresses(maxAgeMs = 0): Promise<readonly Ipv6AddressInfo[] | undefined> {
    return this.#ipv6Addresses.read(maxAgeMs);
  }

  /** Every route of a family that the data plane has. */
  routes(family: AddressFamily, maxAgeMs = 0): Promise<RouteDump | undefined> {
    const reading = family === 'ip' ? this.#routes : this.#ipv6Routes;
    return reading.read(maxAgeBySize(maxAgeMs, reading.last));
  }
}

/** Delay of another reading of connections, ms, if a reading came a little too early for rates. */
const RETRY_MS = 50;

/**
 * Size of readings per millisecond of allowed age, bytes: viewers of a million entries get new readings every few
 * seconds.
 */
const BYTES_PER_MS = 8_000;

/** Maximum age of a reading that is reused, ms: `maxAgeMs`, or more after a large reading. */
function maxAgeBySize(maxAgeMs: number, last: { readonly byteLength: number } | undefined): number {
  return maxAgeMs === 0 || last === undefined ? maxAgeMs : Math.max(maxAgeMs, last.byteLength / BYTES_PER_MS);
}

/** A reading that is shared by concurrent requests, and by later ones that accept its age. */
class SharedReading<T> {
  readonly #take: (previous: T | undefined, at: number) => Promise<T>;
  #value: T | undefined;
  #at = 0;
  #pending: Promise<T | undefined> | undefined;

  constructor(take: (previous: T | undefined, at: number) => Promise<T>) {
    this.#take = take;
  }

  /** The newest reading, however old. */
  get last(): T | undefined {
    return this.#value;
  }

  forget(): void {
    this.#value = undefined;
  }

  async read(maxAgeMs: number): Promise<T | undefined> {
    if (this.#value !== undefined && performance.now() - this.#at < maxAgeMs) return this.#value;
    this.#pending ??= this.#fresh().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #fresh(): Promise<T | undefined> {
    try {
      const value = await this.#take(this.#value, this.#at);
      this.#value = value;
      this.#at = performance.now();
      return value;
    } catch (error) {
      if (error instanceof AgentGone) return undefined;
      throw error;
    }
  }
}
