import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PROTOCOL } from '@tollway/dataplane-agent/records';
import { encodeFrame, FrameDecoder } from './frames.js';
import {
  AgentGone,
  AgentRefusal,
  AgentSilent,
  type Hello,
  type Message,
  type PortInfo,
  type ReplyFor,
  type RequestBody,
} from './messages.js';
import type { AgentEvent, AgentPort } from './port.js';

/** Delay before the next attempt to connect, ms. */
const RECONNECT_MS = 150;
/** Timeout of a request, ms. Listing a million routes or connections takes longest. */
const REQUEST_TIMEOUT_MS = 20_000;
/** Timeout of the short requests that are sent every second, which detect a hanging process, ms. */
const STATS_TIMEOUT_MS = 8_000;
/** Timeout of small changes of the agent's state, ms. */
const CHANGE_TIMEOUT_MS = 5_000;
const CHANGES = /^(add|remove|reset|start|stop)-/;

interface Pending {
  readonly resolve: (body: never) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

function timeoutOf(op: string): number {
  if (op === 'stats') return STATS_TIMEOUT_MS;
  return CHANGES.test(op) ? CHANGE_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
}

interface Log {
  warn(message: string): void;
}

/** The agent behind its Unix socket. Reconnects until it is closed. */
export class AgentSocket implements AgentPort {
  readonly #path: string;
  readonly #log: Log;
  readonly #events = new EventEmitter();
  readonly #pending = new Map<number, Pending>();
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #hello: Hello | undefined;
  #nextId = 1;
  #open = false;
  #lastWarning = '';

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    this.#events.setMaxListeners(0);
  }

  get hello(): Hello | undefined {
    return this.#hello;
  }

  open(): void {
    this.#open = true;
    this.#connect();
  }

  close(): void {
    this.#open = false;
    clearTimeout(this.#retry);
    this.#socket?.destroy();
  }

  onUp(listener: (hello: Hello) => void): void {
    this.#events.on('up', listener);
  }

  onDown(listener: () => void): void {
    this.#events.on('down', listener);
  }

  onEvent(listener: (event: AgentEvent) => void): void {
    this.#events.on('event', listener);
  }

  async request<B extends RequestBody>(body: B, timeoutMs = timeoutOf(body.op)): Promise<ReplyFor[B['op']]> {
    if (this.#hello === undefined) throw new AgentGone();
    return this.#send(body, timeoutMs);
  }

  #send<B extends RequestBody>(body: B, timeoutMs: number): Promise<ReplyFor[B['op']]> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId;
      this.#nextId = (id % 0xffff_ffff) + 1;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        const silent = new AgentSilent(body.op, timeoutMs);
        reject(silent);
        // The agent answers requests in order, so that the answers to later requests are missing, too.
        this.#warnOnce(`agent: ${silent.message}`);
        this.#socket?.destroy();
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#socket?.write(encodeFrame({ id, body }));
    });
  }

  #connect(): void {
    const socket = connect(this.#path);
    const decoder = new FrameDecoder();
    this.#socket = socket;
    socket.on('connect', () => {
      this.#introduce(socket).catch((error: Error) => {
        this.#warnOnce(`agent: ${error.message}`);
        socket.destroy();
      });
    });
    socket.on('data', (chunk) => {
      try {
        // Messages are not validated, as the types are generated from those of the agent.
        for (const message of decoder.push(chunk)) this.#receive(message as Message);
      } catch (error) {
        this.#warnOnce(`agent sent what cannot be read: ${String(error)}`);
        socket.destroy();
      }
    });
    socket.on('error', (error) => this.#warnOnce(`agent socket ${this.#path}: ${error.message}`));
    socket.on('close', () => this.#onClose());
  }

  async #introduce(socket: Socket): Promise<void> {
    const hello = await this.#send({ op: 'hello', protocol: PROTOCOL }, 5_000);
    if (this.#socket !== socket || socket.destroyed) return;
    this.#lastWarning = '';
    this.#hello = hello;
    this.#events.emit('up', hello);
  }

  #receive(message: Message): void {
    if (message.type === 'event') {
      if (message.event === 'port') this.#portChanged(message.port);
      this.#events.emit('event', message);
      return;
    }
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    this.#pending.delete(message.id);
    clearTimeout(pending.timer);
    // The agent starts on the next request only now: the timeouts of the requests queued behind this one start again.
    for (const [id, { timer }] of this.#pending) if (id > message.id) timer.refresh();
    if (message.type === 'error') pending.reject(new AgentRefusal(message));
    else pending.resolve(message.body as never);
  }

  #portChanged(port: PortInfo): void {
    if (this.#hello === undefined) return;
    const ports = this.#hello.ports.map((known) => (known.name === port.name ? port : known));
    this.#hello = { ...this.#hello, ports };
  }

  #onClose(): void {
    const wasUp = this.#hello !== undefined;
    this.#hello = undefined;
    this.#socket = undefined;
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(new AgentGone());
    }
    this.#pending.clear();
    if (wasUp) this.#events.emit('down');
    if (this.#open) this.#retry = setTimeout(() => this.#connect(), RECONNECT_MS);
  }

  /** Logs a warning, unless it is the same as the last one. */
  #warnOnce(text: string): void {
    if (text === this.#lastWarning) return;
    this.#lastWarning = text;
    this.#log.warn(text);
  }
}
