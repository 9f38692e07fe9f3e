// @ts-check
/**
 * Connections by the thousand, on a host of the lab: `browser-load.mjs ADDRESS PER_SECOND`. Each is one UDP datagram from a
 * port of its own to the discard port; they stay in the router's table until they time out.
 */
import { createSocket } from 'node:dgram';

const [address = '', perSecond = ''] = process.argv.slice(2);
/** RFC 863. */
const DISCARD_PORT = 9;
const TICK_MS = 50;
const FIRST_PORT = 10_000;
const LAST_PORT = 60_000;

const payload = Buffer.alloc(64);
const perTick = Math.max(1, Math.round((Number(perSecond) * TICK_MS) / 1000));
let port = FIRST_PORT;

setInterval(() => {
  for (let made = 0; made < perTick; made += 1) {
    const socket = createSocket('udp4');
    socket.on('error', () => socket.close());
    socket.bind(port, () => socket.send(payload, DISCARD_PORT, address, () => socket.close()));
    port = port === LAST_PORT ? FIRST_PORT : port + 1;
  }
}, TICK_MS);
