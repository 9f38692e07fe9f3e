import { expect, it } from 'vitest';
import { endpoints } from '../src/endpoints.js';
import { pathsOf } from '../src/openapi.js';

const paths = pathsOf(endpoints);

it('every route has its operation, and each another id', () => {
  const operations = Object.values(paths).flatMap((operations) => Object.values(Object(operations)).map(Object));
  expect(operations.length).toBe(endpoints.length);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(endpoints.length);
  for (const { responses } of operations) expect(Object.keys(responses)).toContain('401');
});

it('parameters and bodies are those of the schemas, without the texts of refusals', () => {
  expect(paths['/api/v1/revisions/{revision}/undo']).toMatchObject({
    post: {
      parameters: [{ name: 'revision', in: 'path', required: true, schema: { type: 'string' } }],
      requestBody: { required: false },
    },
  });
  expect(paths['/api/v1/queue-accounting']).toMatchObject({
    get: {
      parameters: [
        { name: 'from', in: 'query', required: false, schema: { type: 'string', format: 'date' } },
        { name: 'to' },
        { name: 'queue' },
        { name: 'format', schema: { enum: ['json', 'csv'] } },
      ],
      responses: { '200': { content: { 'text/csv': {} } } },
    },
  });
  expect(paths['/api/v1/login']).toMatchObject({
    post: { security: [], requestBody: { required: true, content: { 'application/json': {} } } },
  });
  expect(JSON.stringify(paths)).not.toContain('refusal');
});
