import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Content security policy that loads nothing from other hosts; scripts may set styles (window positions, chart sizes).
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

export function securityHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    secure(request, reply);
    return payload;
  });
}

/** The headers of one response. A function, as some responses do not pass hooks. */
export function secure(request: Pick<FastifyRequest, 'url'>, reply: FastifyReply): void {
  reply.headers({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  });
  if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
  if (/^\/(rest|api|docs)(\/|$)/.test(request.url)) reply.header('cache-control', 'no-store');
}
