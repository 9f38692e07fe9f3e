// @ts-check
/**
 * UDP flows at steady rates between two hosts of a test.
 *
 * `udp-flows.mjs serve PORT COUNT` binds COUNT ports from PORT on and prints `ready`. Who asks is answered, and sent
 * as many bits a second as were asked for.
 * `udp-flows.mjs send FLOWS` opens the flows of a JSON list of {@link Flow}, prints `started` with the time, ms since
 * 1970, when all have been answered, sends until the time of each is up, and prints `late` with the longest time, ms,
 * for which this process was kept from sending.
 */
import { createSocket } from 'node:dgram';

/**
 * Rates are of IP packets, bits per second; 0 sends nothing. `bytes` is the length of a packet with its IP header.
 * @typedef {{ from: string, to: string, port: number, up: number, down: number, bytes: number, seconds: number }} Flow
 */

/** IPv4 and UDP headers, bytes. */
const HEADERS = 28;
const TICK_MS = 2;
/** Delay that a sender which was kept from its core makes up for, ms; older packets are not sent. */
const LATE_MS = 50;
const ASK_AGAIN_MS = 200;
const LINGER_MS = 500;

/** @type {Set<() => void>} */
const paced = new Set();
let ticked = performance.now();
let latest = 0;
setInterval(() => {
  const now = performance.now();
  if (paced.size > 0) latest = Math.max(latest, now - ticked);
  ticked = now;
  for (const step of paced) step();
}, TICK_MS);

/**
 * Sends datagrams at a rate, evenly.
 * @param {{ rate: number, bytes: number, seconds: number }} flow
 * @param {(datagram: Buffer) => void} send
 * @returns {Promise<void>} when the time is up
 */
function pace({ rate, bytes, seconds }, send) {
  const datagram = Buffer.alloc(bytes - HEADERS);
  const perMs = rate / 8 / bytes / 1000;
  const started = performance.now();
  let due = 0;
  let at = started;
  return new Promise((resolve) => {
    const step = () => {
      const now = performance.now();
      if (now - started >= seconds * 1000) {
        paced.delete(step);
        resolve();
        return;
      }
      due = Math.min(due + (now - at) * perMs, Math.max(LATE_MS * perMs, 1));
      at = now;
      for (; due >= 1; due--) send(datagram);
    };
    paced.add(step);
  });
}

/** @param {number} port */
function serve(port) {
  const socket = createSocket('udp4');
  /** @type {Set<string>} */
  const asked = new Set();
  socket.on('message', (datagram, peer) => {
    // Datagrams of a flow begin with zero, a request with a brace.
    if (datagram[0] !== 0x7b) return;
    socket.send('heard', peer.port, peer.address);
    const from = `${peer.address}:${peer.port}`;
    if (asked.has(from)) return;
    asked.add(from);
    const { down, bytes, seconds } = JSON.parse(datagram.toString());
    if (down > 0) {
      void pace({ rate: down, bytes, seconds }, (data) => socket.send(data, peer.port, peer.address, () => {}));
    }
  });
  return new Promise((resolve) => socket.bind(port, () => resolve(undefined)));
}

/** @param {Flow} flow */
function open({ from, to, port, ...request }) {
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  return new Promise((resolve) => {
    socket.bind(0, from, () =>
      socket.connect(port, to, () => {
        const ask = () => socket.send(JSON.stringify(request));
        const again = setInterval(ask, ASK_AGAIN_MS);
        socket.on('message', () => {
          clearInterval(again);
          resolve(socket);
        });
        ask();
      }),
    );
  });
}

const [role, ...args] = process.argv.slice(2);
if (role === 'serve') {
  const [first = 0, count = 0] = args.map(Number);
  await Promise.all(Array.from({ length: count }, (_, index) => serve(first + index)));
  console.log('ready');
} else {
  /** @type {Flow[]} */
  const flows = JSON.parse(args[0] ?? '[]');
  const sockets = await Promise.all(flows.map(open));
  console.log(`started ${Date.now()}`);
  await Promise.all(
    flows.map((flow, index) =>
      pace({ rate: flow.up, bytes: flow.bytes, seconds: flow.seconds }, (data) => sockets[index].send(data, () => {})),
    ),
  );
  console.log(`late ${Math.round(latest)}`);
  // Packets under way must find the socket, or the sender would get an ICMP error.
  setTimeout(() => process.exit(0), LINGER_MS);
}
