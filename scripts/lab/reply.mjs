// @ts-check
/**
 * Sends a datagram back to where one came from. None goes to port 0, which says that no reply is wanted (RFC 768), and
 * to which Node sends nothing: it throws.
 * @param {import('node:dgram').Socket} socket
 * @param {string | Uint8Array} answer
 * @param {{ address: string, port: number }} peer
 */
export function reply(socket, answer, { address, port }) {
  if (port !== 0) socket.send(answer, port, address);
}
