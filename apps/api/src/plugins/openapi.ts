import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { endpoints } from '@tollway/protocol/endpoints';
import { errorSchema, pathsOf } from '@tollway/protocol/openapi';
import { openApi, registry } from '@tollway/schema';
import type { FastifyInstance } from 'fastify';
import { VERSION } from '../version.js';

const TAG = { name: '/api/v1', description: 'Requests beside those for menus.' };

let written: string | undefined;

/** The OpenAPI document as JSON. Built once, as it never changes while the process runs. */
function description(): string {
  if (written === undefined) {
    const menus = openApi(registry, { title: 'Tollway', version: VERSION, errorSchema: errorSchema() });
    const paths = Object.assign({}, menus.paths, pathsOf(endpoints));
    written = JSON.stringify({ ...menus, tags: [menus.tags, TAG].flat(), paths });
  }
  return written;
}

/** Serves the API documentation of `/rest` and `/api/v1` at `/docs`, and its document at `/docs/json`. */
export async function apiDescription(app: FastifyInstance): Promise<void> {
  const text = description();
  // The plugin's types are those of OpenAPI 3.0.
  const document = JSON.parse(text);
  await app.register(swagger, { mode: 'static', specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiHooks: {
      // The plugin would serialise the document for each request, which takes several milliseconds.
      async preHandler(request, reply) {
        if (request.routeOptions.url === '/docs/json') return reply.type('application/json; charset=utf-8').send(text);
      },
    },
    uiConfig: {
      docExpansion: 'none',
      layout: 'BaseLayout',
      // Runs in the browser: changes with the session's cookie require this header.
      requestInterceptor: (request) => Object.assign(request, { headers: { ...request.headers, 'X-Tollway': '1' } }),
    },
  });
}
