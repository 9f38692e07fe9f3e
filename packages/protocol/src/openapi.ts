import type { ObjectSchema, Schema } from './data.js';
import type { Endpoint } from './endpoint.js';
import { errorBody } from './errors.js';

/** The routes of `/api/v1` as `paths` of an OpenAPI 3.1 document, whose schemas are JSON Schema, too. */

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** Operations by path and method. `components/responses` of the document are those of `/rest`. */
export function pathsOf(endpoints: readonly Endpoint[]): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    const operations = paths[path] ?? {};
    paths[path] = operations;
    operations[endpoint.method.toLowerCase()] = operationOf(endpoint);
  }
  return paths;
}

function operationOf(endpoint: Endpoint): JsonObject {
  const { method, path, summary, description, params, query, body, answer, alsoAs = [] } = endpoint;
  const name = path
    .split('/')
    .filter((word) => word !== '' && !word.startsWith(':'))
    .join('-');
  const parameters = [...parametersOf('path', params), ...parametersOf('query', query)];
  const success: JsonObject =
    answer === undefined
      ? { '204': { description: 'Done.' } }
      : { '200': { description: summary, content: contentOf(answer, alsoAs) } };
  return {
    tags: ['/api/v1'],
    operationId: `${method.toLowerCase()}-${name}${params === undefined ? '' : '-of-one'}`,
    summary,
    ...(description !== undefined && { description }),
    ...(endpoint.public === true && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: (body.required ?? []).length > 0, content: contentOf(body, []) },
    }),
    responses: {
      ...success,
      '400': { $ref: '#/components/responses/BadRequest' },
      '401': { $ref: '#/components/responses/Unauthorized' },
      default: { $ref: '#/components/responses/Refused' },
    },
  };
}

function contentOf(schema: Schema, alsoAs: readonly string[]): JsonObject {
  return Object.fromEntries([
    ['application/json', { schema: plain(schema) }],
    ...alsoAs.map((type) => [type, { schema: { type: 'string' } }]),
  ]);
}

function parametersOf(place: 'path' | 'query', schema: ObjectSchema | undefined): JsonObject[] {
  const required: readonly string[] = schema?.required ?? [];
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = plain(property);
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

/** Schema of the body of error responses, `components/schemas/Error` of the document. */
export const errorSchema = (): JsonObject => plain(errorBody);

/** A schema as JSON, without the error texts. */
function plain(schema: Schema): JsonObject {
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === 'refusal' ? undefined : value)));
}
