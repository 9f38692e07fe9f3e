// @ts-check
/**
 * Steady, bounded traffic of the lab's clients, real requests to real servers. Each argument is one of them:
 * - `web`: pages of 1–128 KiB, about 3 a second, and DNS queries; about 0.5 Mbit/s.
 * - `laptop`: somebody who reads: every ten seconds or so a page of 3 MiB, and a picture sent; about 3 Mbit/s.
 * - `tv`: a film, 2 MiB every four seconds, 4.2 Mbit/s: behind a queue of 5 Mbit/s it comes in time.
 * - `stream`: UDP, 1.5 Mbit/s.
 */
import { createSocket } from 'node:dgram';
import { Agent, get, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { LAPTOP_ADDRESS, SERVER_ADDRESS, STREAM_PORT, TV_ADDRESS } from './topology.mjs';

/** Timeout of a subscriber's request without any received data, ms; a narrow queue only delays data. */
const TIMEOUT_MS = 10_000;

/** @param {string} address @param {number} connections */
const agentOf = (address, connections) =>
  new Agent({ keepAlive: true, maxSockets: connections, timeout: TIMEOUT_MS, localAddress: address });

/**
 * Fetches a page, or sends `upload`.
 * @param {Agent} agent @param {number} bytes @param {Buffer} [upload]
 * @returns {Promise<void>} resolves when it is over, well or not
 */
function exchange(agent, bytes, upload) {
  return new Promise((resolve) => {
    const options = { host: SERVER_ADDRESS, path: `/?bytes=${bytes}`, agent, timeout: TIMEOUT_MS };
    const sending = request({ ...options, method: upload === undefined ? 'GET' : 'POST' }, (response) => {
      response.on('error', () => {});
      response.on('close', resolve);
      response.resume();
    });
    sending.on('timeout', () => sending.destroy());
    sending.on('error', () => resolve());
    sending.end(upload);
  });
}

async function laptop() {
  const MIB = 1 << 20;
  const agent = agentOf(LAPTOP_ADDRESS, 3);
  const picture = Buffer.alloc(MIB / 2);
  for (;;) {
    await Promise.all([exchange(agent, MIB), exchange(agent, MIB), exchange(agent, MIB)]);
    await pause(2000 + Math.random() * 2000);
    await exchange(agent, 100, picture);
    await pause(4000 + Math.random() * 2000);
  }
}

async function tv() {
  const SEGMENT_BYTES = 2 << 20;
  const SEGMENT_MS = 4000;
  const agent = agentOf(TV_ADDRESS, 1);
  for (;;) {
    const started = performance.now();
    await exchange(agent, SEGMENT_BYTES);
    await pause(Math.max(100, SEGMENT_MS - (performance.now() - started)));
  }
}

function web() {
  // Some connections last for a few requests only, as those of a browser, so that the connection table changes, too.
  const agent = new Agent({ keepAlive: true, maxSockets: 4, timeout: 3000 });
  setInterval(() => {
    const bytes = 1024 << Math.floor(Math.random() * 8);
    const ownConnection = Math.random() < 0.2;
    const page = get(
      { host: SERVER_ADDRESS, path: `/?bytes=${bytes}`, agent: ownConnection ? false : agent, timeout: 3000 },
      (response) => {
        response.on('error', () => {});
        response.resume();
      },
    );
    page.on('timeout', () => page.destroy());
    page.on('error', () => {});
  }, 330);

  let id = 0;
  setInterval(() => {
    id = (id + 1) & 0xffff;
    const name = [3, 'www', 7, 'example', 3, 'com', 0].map((part) =>
      typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part),
    );
    const query = Buffer.concat([Buffer.alloc(12), ...name, Buffer.from([0, 1, 0, 1])]);
    query.writeUInt16BE(id, 0);
    query.writeUInt16BE(0x0100, 2);
    query.writeUInt16BE(1, 4);
    const socket = createSocket('udp4');
    const close = setTimeout(() => socket.close(), 2000);
    socket.on('message', () => {
      clearTimeout(close);
      socket.close();
    });
    socket.on('error', () => {});
    socket.send(query, 53, SERVER_ADDRESS, () => {});
  }, 1000);
}

function stream() {
  const PAYLOAD_BYTES = 1172;
  const INTERVAL_MS = 25;
  // 4 × 1200 B of IP each 25 ms = 1.54 Mbit/s.
  const PER_INTERVAL = 4;
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  let sequence = 0;
  socket.connect(STREAM_PORT, SERVER_ADDRESS, () => {
    setInterval(() => {
      for (let sent = 0; sent < PER_INTERVAL; sent++) {
        payload.writeUInt32BE(sequence++ >>> 0, 0);
        socket.send(payload, () => {});
      }
    }, INTERVAL_MS);
  });
}

const roles = { web, laptop, tv, stream };
for (const role of process.argv.slice(2)) {
  if (role !== 'web' && role !== 'laptop' && role !== 'tv' && role !== 'stream') {
    throw new Error('client.mjs web|laptop|tv|stream …');
  }
  roles[role]();
}
