import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Takes what proxies say of their clients (`X-Forwarded-For`) apart: addresses lose their ports, and what stands before
 * something that is no address does not count, nor does that. Belongs before everything that asks for the client's address.
 */
export function forwardedAddresses(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    const { 'x-forwarded-for': said } = headers;
    if (said === undefined) return;
    const clients = [said].flat().join(',').split(',').map(addressOf);
    const known = clients.slice(clients.lastIndexOf(undefined) + 1);
    if (known.length > 0) headers['x-forwarded-for'] = known.join(', ');
    else delete headers['x-forwarded-for'];
  });
}

/** The address of `192.0.2.1`, `192.0.2.1:5000`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:5000`; undefined of anything else. */
function addressOf(text: string): string | undefined {
  const trimmed = text.trim();
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  return isIP(address) === 0 ? undefined : address;
}
