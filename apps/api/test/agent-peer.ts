import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { DataplaneConfig, Ipv6AddressInfo, PortInfo } from '@tollway/dataplane-agent';
import { PROTOCOL } from '@tollway/dataplane-agent/records';
import { encodeFrame, FrameDecoder } from '../src/agent/frames.js';
import type { NeighborInfo, Stats, TracedPacket } from '../src/agent/messages.js';
import { contentHash, digestOf } from '../src/compiler/digest.js';

/**
 * The other side of the agent's socket, as far as the configuration goes: it keeps a prepared and an active
 * configuration by the protocol's rules and counts nothing. It is not a data plane.
 */
export class AgentPeer {
  readonly ports: PortInfo[];
  /** Refuses a configuration: message, and the row at fault. */
  refuse: ((config: DataplaneConfig) => { message: string; row?: number; code?: string } | undefined) | undefined;
  /** Configuration that is activated instead of the one that was sent. */
  distort: (config: DataplaneConfig) => DataplaneConfig = (config) => config;
  /** Requests that are not answered: the process is there and does nothing any more. */
  mute: readonly string[] = [];
  /** Delay of an answer from when the one before it was sent, ms. */
  delayMs = 0;
  /** Requests in which the connection ends. */
  fatal: readonly string[] = [];
  revision = 0;
  active: DataplaneConfig | undefined;
  prepares = 0;
  /** Operations that were asked for, in order. */
  readonly asked: Record<string, unknown>[] = [];
  /** Packed records as the answer to `queues`. */
  queues: Buffer = Buffer.alloc(0);
  /** Another number stands for another run of the data plane. */
  pid = process.pid;
  /** Called when counters of queues are set to zero; may answer with the records of what they were. */
  onQueueReset: (() => Buffer) | undefined;
  /** Packed records as the answer to `token-bucket`, by the millisecond that it is now. */
  scope: (nowMs: number) => Buffer = () => Buffer.alloc(0);
  /** Lead of the clock in answers to `token-bucket`, ns. */
  clockNs = 0n;
  /** Packed records as the answer to `connections`. */
  connections: Buffer = Buffer.alloc(0);
  /** Answer to `ipv6-addresses`. */
  ipv6Addresses: readonly Ipv6AddressInfo[] = [];
  /** Ways past the slow path and slow reasons in `stats`. */
  handlers: Stats['fast-path']['handlers'] = [];
  slow: Stats['slow'] = [];
  /** Rules, cores and workers in `stats`. */
  rules: Stats['rules'] = [];
  cores: () => Stats['cores'] = () => [];
  workers: () => Stats['workers'] = () => [];
  /** Answer to `address-list-entries`: names of lists, and packed records. */
  entries: { lists: string[]; records: Buffer } = { lists: [], records: Buffer.alloc(0) };
  /** Entries as the answer to `neighbors`. */
  neighbors: readonly NeighborInfo[] = [];
  /** Packed records as the answer to `routes`. */
  routes: Buffer = Buffer.alloc(0);
  /** The answer to `route-to`. */
  routeTo: (address: string) => { local: boolean; interface: number | null } = () => ({
    local: false,
    interface: null,
  });
  /** Packets of a trace, and result of a dry run. */
  traced: TracedPacket[] = [];
  /** Traces that were started and not stopped. */
  traces = 0;
  /** Connections with flag F, and those of IPv6 among them. */
  fasttracked = { all: 0, ipv6: 0 };
  readonly #path: string;
  readonly #prepared = new Map<number, { revision: number; config: DataplaneConfig }>();
  readonly #sockets = new Set<Socket>();
  readonly #started = process.hrtime.bigint();
  #digested: { readonly config: DataplaneConfig; readonly digest: string } | undefined;
  #server: Server | undefined;
  #nextToken = 1;

  constructor(path: string, ports = 2) {
    this.#path = path;
    this.ports = Array.from({ length: ports }, (_, index) => ({
      name: `ether${index + 1}`,
      netdev: '',
      io: 'memory',
      'io-reason': 'test',
      'mac-address': `02:00:00:00:00:0${index + 1}`,
      'max-l2mtu': 9000,
    }));
  }

  async start(): Promise<void> {
    const server = createServer((socket) => {
      const decoder = new FrameDecoder();
      let before: Promise<unknown> = Promise.resolve();
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        for (const message of decoder.push(chunk)) {
          const { id, body } = message as { id: number; body: Record<string, unknown> };
          this.asked.push(body);
          const op = String(body.op);
          if (this.fatal.includes(op)) socket.destroy();
          if (this.mute.includes(op) || socket.destroyed) continue;
          const answer = encodeFrame({ id, ...this.#answer(body) });
          if (this.delayMs === 0) socket.write(answer);
          else {
            before = before.then(() => setTimeout(this.delayMs)).then(() => socket.write(answer));
          }
        }
      });
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#path, resolve));
  }

  /** Tells all who are connected of what nobody asked for. */
  tell(...events: readonly object[]): void {
    const frames = Buffer.concat(events.map((event) => encodeFrame({ type: 'event', ...event })));
    for (const socket of this.#sockets) socket.write(frames);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #answer(body: Record<string, unknown>): object {
    const reply = (content: object) => ({ type: 'reply', body: { op: body.op, ...content } });
    const error = (code: string, message: string, row: number | null = null) => ({ type: 'error', code, message, row });
    switch (body.op) {
      case 'hello':
        return reply({
          protocol: PROTOCOL,
          version: 'test',
          pid: this.pid,
          revision: this.revision,
          digest: this.#digest(),
          ports: this.ports,
          'router-netns': '',
        });
      case 'prepare': {
        this.prepares += 1;
        const config = body.config as DataplaneConfig;
        if (body.base !== this.revision) return error('stale-base', `active is ${this.revision}`);
        const refusal = this.refuse?.(config);
        if (refusal !== undefined) return error(refusal.code ?? 'bad-config', refusal.message, refusal.row);
        const token = this.#nextToken++;
        this.#prepared.set(token, { revision: Number(body.revision), config });
        return { type: 'reply', body: { op: 'prepared', token } };
      }
      case 'activate': {
        const prepared = this.#prepared.get(Number(body.token));
        if (prepared === undefined) return error('unknown-token', 'no such token');
        this.#prepared.clear();
        this.active = this.distort(prepared.config);
        this.revision = prepared.revision;
        return { type: 'reply', body: { op: 'activated', revision: this.revision, digest: this.#digest() } };
      }
      case 'discard':
        return { type: 'reply', body: { op: 'done', count: Number(this.#prepared.delete(Number(body.token))) } };
      case 'stats':
        return reply({
          'now-ns': Number(process.hrtime.bigint()),
          'uptime-ns': Number(process.hrtime.bigint() - this.#started),
          revision: this.revision,
          digest: this.#digest(),
          interfaces: [],
          rules: this.rules,
          drops: [],
          'fast-path': {
            'fast-path-active': false,
            'fast-path-packets': 0,
            'fast-path-bytes': 0,
            'fasttrack-active': false,
            'fasttrack-packets': 0,
            'fasttrack-bytes': 0,
            handlers: this.handlers,
          },
          slow: this.slow,
          queues: { 'queued-bytes': 0, 'queued-packets': 0, 'dropped-packets': 0 },
          tracking: {
            active: false,
            'ip4-entries': 0,
            'ip6-entries': 0,
            'fasttracked-entries': this.fasttracked.all,
            'ip6-fasttracked-entries': this.fasttracked.ipv6,
            'max-entries': 0,
            'worker-entries': 0,
            'worker-max-entries': 0,
          },
          cores: this.cores(),
          workers: this.workers(),
        });
      case 'connections':
        return reply({ 'now-ns': Number(process.hrtime.bigint()), records: this.connections });
      case 'queues':
        return reply({ 'now-ns': Number(process.hrtime.bigint()), records: this.queues });
      case 'token-bucket': {
        const now = process.hrtime.bigint() + this.clockNs;
        return reply({ 'now-ns': Number(now), records: this.scope(Number(now / 1_000_000n)) });
      }
      case 'reset-queue-counters':
        return { type: 'reply', body: { op: 'queues', 'now-ns': 0, records: this.onQueueReset?.() ?? this.queues } };
      case 'address-list-entries':
        return reply(this.entries);
      case 'add-address-list-entries':
      case 'remove-address-list-entries':
      case 'remove-connections':
        return { type: 'reply', body: { op: 'done', count: 1 } };
      case 'start-trace':
        this.traces += 1;
        return { type: 'reply', body: { op: 'trace-started', trace: 7 } };
      case 'trace': {
        const packets = this.traced.filter(({ number }) => number > Number(body.after));
        return reply({ packets, done: false, lost: 0 });
      }
      case 'stop-trace':
        this.traces -= 1;
        return { type: 'reply', body: { op: 'done', count: 1 } };
      case 'dry-run':
        return { type: 'reply', body: { op: 'trace', packets: this.traced.slice(0, 1), done: true, lost: 0 } };
      case 'neighbors':
        return reply({ neighbors: this.neighbors });
      case 'ipv6-neighbors':
        return reply({ neighbors: [] });
      case 'ipv6-addresses':
        return reply({ addresses: this.ipv6Addresses });
      case 'ipv6-routes':
        return reply({ records: new Uint8Array(0) });
      case 'routes':
        return reply({ records: this.routes });
      case 'route-to':
        return reply(this.routeTo(String(body.address)));
      default:
        return error('bad-request', `${String(body.op)} needs a data plane`);
    }
  }

  /** Computed once of what is in force, as the agent does: each answer to `stats` tells it. */
  #digest(): string {
    if (this.active === undefined) return '';
    if (this.#digested?.config !== this.active)
      this.#digested = { config: this.active, digest: digestOf(this.active, contentHash) };
    return this.#digested.digest;
  }
}
