import type { Menu } from '../menu.js';
import { commandOperation, printOperation } from './openapi-commands.js';
import {
  content,
  failed,
  isSingle,
  type JsonObject,
  listOf,
  operation,
  proplist,
  reference,
  response,
  schemaName,
  takesLists,
} from './openapi-parts.js';
import { schemasOf } from './openapi-schemas.js';

interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  /** JSON Schema of the body of error responses. */
  readonly errorSchema: JsonObject;
}

/**
 * OpenAPI 3.1 document of `/rest` for these menus: pure, so that the same registry gives the same document.
 */
export function openApi(menus: readonly Menu[], { title, version, errorSchema }: OpenApiOptions): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description:
        'Configuration and state by menu. Values are texts; requests may also use numbers, booleans and lists. ' +
        'Behaves as the REST interface of RouterOS v7 on these menus.',
    },
    security: [{ basic: [] }, { session: [] }],
    tags: menus.map((menu) => ({ name: menu.path, description: menu.help })),
    paths: Object.fromEntries(menus.flatMap(pathsOf)),
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        session: { type: 'apiKey', in: 'cookie', name: 'tollway_session' },
      },
      schemas: {
        Error: errorSchema,
        ...Object.fromEntries(menus.flatMap(schemasOf)),
      },
      responses: {
        BadRequest: response(
          'A property or argument is wrong; `detail` names it and what it accepts.',
          reference('Error'),
        ),
        Unauthorized: response('No or wrong credentials.', reference('Error')),
        NotFound: response('No such item.', reference('Error')),
        Refused: response(
          'Any other refusal: 403 not permitted to the user, or sent by a page of another site; 406 no such command; 408 the body did not arrive in time; ' +
            '415 the body is not JSON; 421 the name in Host is not one of the router; 429 too many requests; 503 not possible at present.',
          reference('Error'),
        ),
      },
    },
  };
}

const LISTS =
  'One object adds one item. A list adds all of its items, in order, or none of them, as one revision; ' +
  'an error names the element, counted from 0.';

const CHANGES =
  'Changes items, each named by its `.id`, all of them or none, as one revision; an error names the element, counted from 0.';

const changedItem: JsonObject = {
  type: 'object',
  required: ['.id'],
  properties: {
    '.id': { type: 'string', minLength: 1, description: 'Id or name; the other members are the properties to change.' },
  },
};

const oneOrMany = (schema: JsonObject, many: boolean): JsonObject =>
  many ? { oneOf: [schema, listOf(schema)] } : schema;

/** The paths of a menu with their operations. */
function pathsOf(menu: Menu): [string, JsonObject][] {
  const base = `/rest${menu.path}`;
  const own = [...menu.commands.values()].map((command): [string, JsonObject] => [
    `${base}/${command.name}`,
    { post: commandOperation(menu, command) },
  ]);
  if (menu.run !== undefined) return [[base, { post: commandOperation(menu, menu.run) }], ...own];
  const print: [string, JsonObject] = [`${base}/print`, { post: printOperation(menu) }];
  if (isSingle(menu)) return [[base, single(menu)], print, ...own];
  return [[base, collection(menu)], [`${base}/{id}`, item(menu)], print, ...own];
}

function single(menu: Menu): JsonObject {
  const name = schemaName(menu);
  return {
    get: operation(menu, 'get', `Read ${menu.title}`, {
      parameters: [proplist],
      responses: { '200': response(menu.help, reference(name)), ...failed('BadRequest') },
    }),
    ...(menu.commands.has('set')
      ? {
          patch: operation(menu, 'change', `Change ${menu.title}`, {
            requestBody: { required: true, ...content(reference(`${name}-set`)) },
            responses: { '200': response('The settings after the change.', reference(name)), ...failed('BadRequest') },
          }),
        }
      : {}),
  };
}

function collection(menu: Menu): JsonObject {
  const name = schemaName(menu);
  return {
    get: operation(menu, 'list', `List ${menu.title}`, {
      parameters: [
        proplist,
        {
          name: 'filter',
          in: 'query',
          style: 'form',
          explode: true,
          schema: { type: 'object', additionalProperties: { type: 'string' } },
          // Without an example, documentation pages generate a filter that matches no item.
          example: {},
          description: 'Any property=value; all must hold.',
        },
      ],
      responses: { '200': response(menu.help, listOf(reference(name))), ...failed('BadRequest') },
    }),
    ...(menu.commands.has('add')
      ? {
          put: operation(menu, 'add', `Add to ${menu.title}`, {
            ...(takesLists(menu) && { description: LISTS }),
            requestBody: { required: true, ...content(oneOrMany(reference(`${name}-add`), takesLists(menu))) },
            responses: {
              '201': response('The new item, or the list of them.', oneOrMany(reference(name), takesLists(menu))),
              ...failed('BadRequest'),
            },
          }),
        }
      : {}),
    ...(menu.commands.has('set') && takesLists(menu)
      ? {
          patch: operation(menu, 'set-list', `Change some of ${menu.title}`, {
            description: CHANGES,
            requestBody: { required: true, ...content(listOf(changedItem)) },
            responses: { '200': response('The changed items.', listOf(reference(name))), ...failed('BadRequest') },
          }),
        }
      : {}),
  };
}

function item(menu: Menu): JsonObject {
  const name = schemaName(menu);
  const has = (command: string): boolean => menu.commands.has(command);
  return {
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        schema: { type: 'string' },
        description: 'Id such as *1F, or the name of the item.',
      },
    ],
    get: operation(menu, 'get', `Read one of ${menu.title}`, {
      responses: { '200': response('The item.', reference(name)), ...failed('NotFound') },
    }),
    ...(has('set')
      ? {
          patch: operation(menu, 'set', `Change one of ${menu.title}`, {
            requestBody: { required: true, ...content(reference(`${name}-set`)) },
            responses: { '200': response('The changed item.', reference(name)), ...failed('BadRequest', 'NotFound') },
          }),
        }
      : {}),
    ...(has('remove')
      ? {
          delete: operation(menu, 'remove', `Remove from ${menu.title}`, {
            responses: { '204': response('Removed.'), ...failed('BadRequest', 'NotFound') },
          }),
        }
      : {}),
  };
}
