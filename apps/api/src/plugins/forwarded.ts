import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Normalises `X-Forwarded-For`: ports are removed; an invalid entry is dropped together with all entries before it.
 * Must be registered before anything that uses the client's address.
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
