import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../src/logging/message.js';
import { remoteLog } from '../../src/logging/remote.js';
import type { RemoteSettings } from '../../src/logging/settings.js';
import { eventually } from '../eventually.js';

const AT = Date.UTC(2026, 2, 1, 12, 0, 0, 250);

let reports: string[];
let closing: (() => unknown)[];
beforeEach(() => {
  reports = [];
  closing = [];
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

const SETTINGS: RemoteSettings = {
  address: '127.0.0.1',
  port: 0,
  srcAddress: undefined,
  protocol: 'udp',
  format: 'syslog',
  timeFormat: 'iso8601',
  facility: 'daemon',
  severity: 'auto',
};

function remote(settings: Partial<RemoteSettings>): Destination {
  const report = (severity: string, text: string) => void reports.push(`${severity}: ${text}`);
  const log = remoteLog({ ...SETTINGS, ...settings }, () => 'router', report);
  closing.push(() => log.close());
  return log;
}

const say = (log: Destination, text: string) => log.write({ timeMs: AT, topics: 'system,info', text });
const line = (text: string) => `<30>1 2026-03-01T12:00:00.250Z router tollway - system,info - ${text}`;

/** Collects datagrams, with where they came from. */
async function datagrams(address: string, port = 0) {
  const socket: DatagramSocket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const got: string[] = [];
  const from: string[] = [];
  socket.on('message', (bytes, { address: source }) => {
    got.push(bytes.toString());
    from.push(source);
  });
  await new Promise<void>((resolve) => socket.bind(port, address, resolve));
  closing.push(() => socket.close());
  return { port: socket.address().port, got, from };
}

/** Collects what connections bring. */
class Receiver {
  text = '';
  connections: Socket[] = [];
  readonly #server: Server = createServer((socket) => {
    this.connections.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      this.text += bytes.toString();
    });
  });

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    closing.push(() => this.stop());
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('messages by UDP', () => {
  it('are one datagram each, also by IPv6', async () => {
    for (const address of ['127.0.0.1', '::1']) {
      const server = await datagrams(address);
      const log = remote({ address, port: server.port });
      say(log, 'one');
      say(log, 'zwölf');
      await eventually(() => expect(server.got).toEqual([line('one'), line('\uFEFFzwölf')]));
    }
    expect(reports).toEqual([]);
  });

  it('come from the address that is asked for', async () => {
    const server = await datagrams('127.0.0.1');
    say(remote({ port: server.port, srcAddress: '127.0.0.9', format: 'default' }), 'hello');
    await eventually(() => expect(server.got).toEqual(['system,info hello']));
    expect(server.from).toEqual(['127.0.0.9']);
  });

  it('that cannot be sent are reported once', async () => {
    // No machine has an address for documentation.
    const log = remote({ port: 9, srcAddress: '192.0.2.77' });
    say(log, 'one');
    await eventually(() => expect(reports).toHaveLength(1));
    say(log, 'two');
    expect(reports).toEqual([
      expect.stringMatching(/^error: nothing can be sent to 127\.0\.0\.1:9: .*EADDRNOTAVAIL.*; messages are dropped$/),
    ]);
  });
});

describe('messages by TCP', () => {
  it('are framed by counted octets, so that no message ends early', async () => {
    const server = new Receiver();
    const log = remote({ protocol: 'tcp', port: await server.listen() });
    say(log, 'one');
    say(log, 'ü');
    const second = line('\uFEFFü');
    const wanted = `${line('one').length} ${line('one')}${Buffer.byteLength(second)} ${second}`;
    await eventually(() => expect(server.text).toBe(wanted));
    expect(server.connections).toHaveLength(1);
  });

  it('are lines where they are no syslog', async () => {
    const server = new Receiver();
    const log = remote({ protocol: 'tcp', port: await server.listen(), format: 'default', srcAddress: '127.0.0.8' });
    say(log, 'one');
    say(log, 'two');
    await eventually(() => expect(server.text).toBe('system,info one\nsystem,info two\n'));
    expect(server.connections.map(({ remoteAddress }) => remoteAddress)).toEqual(['127.0.0.8']);
  });

  it('wait for a server that is not there; it is said once, and what was dropped when it is', async () => {
    const gone = new Receiver();
    const port = await gone.listen();
    await gone.stop();
    const log = remote({ protocol: 'tcp', port, format: 'default' });
    for (let n = 0; n < 1_003; n += 1) say(log, `m${n}`);
    await eventually(() => expect(reports).toHaveLength(1));
    expect(reports[0]).toMatch(
      /^error: 127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED.*; up to 1000 messages wait for it/,
    );
    const server = new Receiver();
    await server.listen(port);
    await eventually(() => expect(reports).toHaveLength(2));
    expect(reports[1]).toBe('info: works again; 3 messages were dropped');
    const wanted = Array.from({ length: 1_000 }, (_, n) => `system,info m${n}\n`).join('');
    await eventually(() => expect(server.text).toBe(wanted));
  });

  it('go on after the server has ended the connection', async () => {
    const server = new Receiver();
    const port = await server.listen();
    const log = remote({ protocol: 'tcp', port, format: 'default' });
    say(log, 'one');
    await eventually(() => expect(server.text).toBe('system,info one\n'));
    await server.stop();
    const again = new Receiver();
    await again.listen(port);
    // The end is seen a moment later; what is sent meanwhile may be lost, as TCP cannot tell.
    await eventually(() => {
      say(log, 'two');
      expect(again.text).toContain('system,info two\n');
    });
  });

  it('are sent before the end, and the end waits for nobody', async () => {
    const server = new Receiver();
    const log = remote({ protocol: 'tcp', port: await server.listen(), format: 'default' });
    say(log, 'one');
    await eventually(() => expect(server.connections).toHaveLength(1));
    say(log, 'last');
    await log.close();
    await eventually(() => expect(server.text).toBe('system,info one\nsystem,info last\n'));
    const began = performance.now();
    const lost = remote({ protocol: 'tcp', address: '192.0.2.1', port: 514 });
    say(lost, 'one');
    await lost.close();
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
