// @ts-check
/**
 * Sends a datagram back to its sender. Nothing is sent to port 0, which means that no reply is wanted (RFC 768), and
 * for which Node throws.
 * @param {import('node:dgram').Socket} socket
 * @param {string | Uint8Array} answer
 * @param {{ address: string, port: number }} peer
 */
export function reply(socket, answer, { address, port }) {
  if (port !== 0) socket.send(answer, port, address);
}
