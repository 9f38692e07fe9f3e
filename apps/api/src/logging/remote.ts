import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, isIPv6, type Socket } from 'node:net';
import { messageOf } from '../errors.js';
import type { Destination, LogMessage, Report } from './message.js';
import { Reports } from './reports.js';
import type { RemoteSettings } from './settings.js';
import { remoteLine } from './syslog.js';

/** Maximum number of messages that wait for the network; further messages are dropped. */
const MAX_WAITING = 1_000;
/**
 * Delay before a failed connection is retried, ms: the first delay, and the maximum, up to which it doubles each time.
 */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Timeout of connecting, and of pending messages when the log is closed, ms. */
const CONNECT_MS = 10_000;
const CLOSE_MS = 1_000;
/** Time of silence after which TCP keepalive probes a connection, ms. */
const KEEPALIVE_MS = 30_000;

/** Sends messages to a server. */
export function remoteLog(settings: RemoteSettings, hostname: () => string, report: Report): Destination {
  return settings.protocol === 'tcp' ? new TcpLog(settings, hostname, report) : new UdpLog(settings, hostname, report);
}

/** A syslog server that messages are sent to. */
abstract class RemoteLog implements Destination {
  protected readonly settings: RemoteSettings;
  protected readonly reports: Reports;
  protected isClosed = false;
  readonly #hostname: () => string;

  constructor(settings: RemoteSettings, hostname: () => string, report: Report) {
    this.settings = settings;
    this.reports = new Reports(report);
    this.#hostname = hostname;
  }

  write(message: LogMessage): void {
    if (this.isClosed) return;
    if (this.isFull()) this.reports.dropped();
    else this.enqueue(remoteLine(message, this.settings, this.#hostname()));
  }

  abstract close(): Promise<void>;

  /** Whether the next message is dropped. */
  protected abstract isFull(): boolean;

  /** Sends a line, or queues it until the network accepts it. */
  protected abstract enqueue(line: string): void;

  /** `192.0.2.1:514`, `[2001:db8::1]:514` */
  protected serverText(): string {
    const { address, port } = this.settings;
    return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  }
}

/** Sends each message as one datagram (RFC 5426). */
export class UdpLog extends RemoteLog {
  #socket: Promise<DatagramSocket> | undefined;
  /** Messages that are being sent. */
  readonly #sending = new Set<Promise<void>>();
  #retryAt = 0;

  protected override isFull(): boolean {
    return this.#sending.size >= MAX_WAITING || performance.now() < this.#retryAt;
  }

  protected override enqueue(line: string): void {
    const sending = this.#send(Buffer.from(line))
      .then(() => this.reports.works())
      .catch((error: unknown) => {
        this.reports.dropped();
        this.#retryAt = performance.now() + FIRST_RETRY_MS;
        this.reports.fails(`nothing can be sent to ${this.serverText()}: ${messageOf(error)}; messages are dropped`);
      })
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    await within(CLOSE_MS, Promise.all(this.#sending));
    (await this.#socket?.catch(() => undefined))?.close();
  }

  async #send(datagram: Buffer): Promise<void> {
    this.#socket ??= this.#open();
    const socket = await this.#socket;
    const { port, address } = this.settings;
    await new Promise<void>((resolve, reject) => {
      socket.send(datagram, port, address, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  #open(): Promise<DatagramSocket> {
    const { address, srcAddress } = this.settings;
    return new Promise((resolve, reject) => {
      const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4').unref();
      socket.on('error', (error) => {
        this.#socket = undefined;
        socket.close();
        reject(error);
      });
      socket.bind({ address: srcAddress, exclusive: true }, () => resolve(socket));
    });
  }
}

/**
 * Sends messages over one connection. It is opened for the first message, and again for the next message after it has
 * ended.
 */
export class TcpLog extends RemoteLog {
  readonly #waiting: string[] = [];
  #socket: Socket | undefined;
  #isConnected = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  protected override isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  protected override enqueue(line: string): void {
    this.#waiting.push(this.#framed(line));
    if (this.#socket !== undefined) this.#send();
    else if (this.#retryTimer === undefined) this.#connect();
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.#retryTimer);
    const socket = this.#socket;
    if (socket === undefined) return;
    if (!this.#isConnected) socket.destroy();
    else {
      const closed = new Promise((resolve) => socket.once('close', resolve));
      for (const frame of this.#waiting.splice(0)) socket.write(frame);
      socket.end();
      await within(CLOSE_MS, closed);
      socket.destroy();
    }
  }

  /** Octet counting (RFC 6587 §3.4.1) for syslog formats; plain lines end with a newline. */
  #framed(line: string): string {
    return this.settings.format === 'syslog' ? `${Buffer.byteLength(line)} ${line}` : `${line}\n`;
  }

  #connect(): void {
    const { address: host, port, srcAddress } = this.settings;
    const socket = connect({ host, port, ...(srcAddress !== undefined && { localAddress: srcAddress }) });
    this.#socket = socket;
    let why = 'the server has ended the connection';
    socket.unref();
    socket.setKeepAlive(true, KEEPALIVE_MS);
    socket.setTimeout(CONNECT_MS, () => {
      if (!this.#isConnected) socket.destroy(new Error(`no answer for ${CONNECT_MS / 1000} s`));
    });
    socket.on('connect', () => {
      socket.setTimeout(0);
      this.#isConnected = true;
      this.#send();
    });
    socket.on('drain', () => this.#send());
    // Received data is discarded: unread data would hide the end of the connection.
    socket.resume();
    socket.on('error', (error) => {
      why = error.message;
    });
    socket.on('close', () => this.#ended(why));
  }

  #ended(why: string): void {
    const hadConnection = this.#isConnected;
    this.#socket = undefined;
    this.#isConnected = false;
    if (this.isClosed) return;
    // The end of an established connection is no failure: the next message opens another one.
    if (!hadConnection) {
      this.reports.fails(
        `${this.serverText()} cannot be reached: ${why}; up to ${MAX_WAITING} messages wait for it, and more are dropped`,
      );
    }
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      if (this.#waiting.length > 0) this.#connect();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }

  #send(): void {
    const socket = this.#socket;
    if (socket === undefined || !this.#isConnected) return;
    while (this.#waiting.length > 0 && !socket.writableNeedDrain) {
      socket.write(this.#waiting.splice(0, SENT_AT_ONCE).join(''));
    }
    if (this.#waiting.length > 0) return;
    this.#retryMs = FIRST_RETRY_MS;
    this.reports.works();
  }
}

/** Maximum number of messages that are written to the connection together. */
const SENT_AT_ONCE = 100;

/** Waits for a promise, up to a timeout. */
async function within(ms: number, what: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([what, over]);
  clearTimeout(timer);
}
