// @ts-check
/**
 * Steady, bounded traffic of one lab client, real requests to real servers.
 * `client.mjs web` (on lan): pages of 1–128 KiB, about 3 a second, and DNS queries; `client.mjs stream` (on lan2): UDP, 1.5 Mbit/s.
 */
import { createSocket } from 'node:dgram';
import { Agent, get } from 'node:http';
import { SERVER_ADDRESS, STREAM_PORT } from './topology.mjs';

const roles = { web, stream };
const role = process.argv[2];
if (role !== 'web' && role !== 'stream') throw new Error('client.mjs web|stream');
roles[role]();

function web() {
  // Some connections live for a few requests, as a browser's do, so that the connection table moves too.
  const agent = new Agent({ keepAlive: true, maxSockets: 4, timeout: 3000 });
  setInterval(() => {
    const bytes = 1024 << Math.floor(Math.random() * 8);
    const ownConnection = Math.random() < 0.2;
    const request = get(
      { host: SERVER_ADDRESS, path: `/?bytes=${bytes}`, agent: ownConnection ? false : agent, timeout: 3000 },
      (response) => {
        response.on('error', () => {});
        response.resume();
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => {});
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
