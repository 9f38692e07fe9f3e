import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { openApi, registry } from '@tollway/schema';
import type { FastifyInstance } from 'fastify';
import { VERSION } from '../version.js';

/** The description of `/rest` at `/docs`, and as a document at `/docs/json`. */
export async function apiDescription(app: FastifyInstance): Promise<void> {
  // Both sides mean the same JSON; the plugin's types are those of OpenAPI 3.0.
  const document = JSON.parse(JSON.stringify(openApi(registry, { title: 'Tollway', version: VERSION })));
  await app.register(swagger, { mode: 'static', specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: {
      docExpansion: 'none',
      layout: 'BaseLayout',
      // Runs in the browser: trying a change out with the session's cookie needs the header.
      requestInterceptor: (request) => Object.assign(request, { headers: { ...request.headers, 'X-Tollway': '1' } }),
    },
  });
}
