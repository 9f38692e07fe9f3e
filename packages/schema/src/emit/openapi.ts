import type { Argument, Command } from '../command.js';
import type { Menu, Prop } from '../menu.js';
import { printSwitches, SWITCH_VALUES, VALUED_SWITCHES } from '../print-switches.js';

/** A JSON value. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
}

/**
 * OpenAPI 3.1 document of `/rest` for these menus: pure, so that the same registry gives the same document.
 */
export function openApi(menus: readonly Menu[], { title, version }: OpenApiOptions): JsonObject {
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
          'Any other refusal: 403 the user or a page of another site may not, 406 no such command here, 408 a body that does not come, 415 a body that is no JSON, ' +
            '421 another host is meant, 429 too much at once, 503 the router cannot do it now.',
          reference('Error'),
        ),
      },
    },
  };
}

const errorSchema: JsonObject = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'integer', description: 'HTTP status.' },
    message: { type: 'string', description: 'Name of the status.' },
    detail: { type: 'string', description: 'What is wrong and what is accepted.' },
    property: { type: 'string', description: 'Property that is wrong.' },
  },
};

/** Name of a menu's schemas: `ip-firewall-filter`. */
const schemaName = (menu: Menu): string => menu.path.slice(1).replaceAll('/', '-');

const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const content = (schema: JsonObject): JsonObject => ({ content: { 'application/json': { schema } } });
const response = (description: string, schema?: JsonObject): JsonObject => ({
  description,
  ...(schema ? content(schema) : {}),
});
const listOf = (schema: JsonObject): JsonObject => ({ type: 'array', items: schema });
const LISTS =
  'One object adds one item. A list adds all of its items, in order, or none of them, as one revision; ' +
  'an error names the element, counted from 0.';

const CHANGES =
  'Changes items, each named by its `.id`, all of them or none, as one revision; an error names the element, counted from 0.';

const changedItem: JsonObject = {
  type: 'object',
  required: ['.id'],
  properties: {
    '.id': { type: 'string', minLength: 1, description: 'Id or name. Beside it stand the properties to change.' },
  },
};

const isSingle = ({ kind }: Menu): boolean => kind === 'settings' || kind === 'status';

/** True where a list of items can be added or changed in one request: users are no part of the configuration. */
export const takesLists = (menu: Menu): boolean => menu.source !== 'live' && !isSingle(menu) && menu.undoable !== false;

const oneOrMany = (schema: JsonObject, many: boolean): JsonObject =>
  many ? { oneOf: [schema, listOf(schema)] } : schema;
const failed = (...names: string[]): JsonObject =>
  Object.fromEntries(
    [
      ['401', 'Unauthorized'] as const,
      ...names.map((name) => [name === 'NotFound' ? '404' : '400', name] as const),
      ['default', 'Refused'] as const,
    ].map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );

const ABOUT: JsonObject = { type: 'string', description: 'Why the item cannot work; only of one that cannot.' };

/** Where an item is inserted. */
const PLACE: JsonObject = {
  'place-before': { type: 'string', description: 'Id of the item to insert before; without it, the end.' },
  'place-after': { type: 'string', description: 'Id of the item to insert after, in place of place-before.' },
};

/** An item as it is read, as it is given on add, and as it is changed. */
function schemasOf(menu: Menu): [string, JsonObject][] {
  const name = schemaName(menu);
  const readable = Object.entries(menu.props).filter(([, prop]) => !prop.secret);
  const writable = Object.entries(menu.props).filter(([, prop]) => !prop.readOnly);
  const read: JsonObject = {
    type: 'object',
    properties: {
      ...(isSingle(menu) ? {} : { '.id': { type: 'string', pattern: '^\\*[0-9A-F]+$' } }),
      ...(menu.source !== 'live' && !isSingle(menu) ? { '.about': ABOUT } : {}),
      ...Object.fromEntries(readable.map(([key, prop]) => [key, { type: 'string', description: prop.help }])),
    },
  };
  if (writable.length === 0) return [[name, read]];
  const required = writable.flatMap(([key, prop]) => (prop.required ? [key] : []));
  const properties = givenProperties(menu);
  const added: JsonObject = {
    required,
    properties: { ...properties, ...(menu.kind === 'ordered' ? PLACE : {}) },
  };
  const write: JsonObject = {
    type: 'object',
    additionalProperties: false,
    properties,
    patternProperties: TAKEN_AWAY,
  };
  return [
    [name, read],
    [`${name}-set`, write],
    ...(menu.commands.has('add') ? [[`${name}-add`, { ...write, ...added }] as [string, JsonObject]] : []),
  ];
}

const TAKEN_AWAY: JsonObject = { '^!': { description: 'Takes the property away.' } };

/** Properties that may be given. */
function givenProperties(menu: Menu): JsonObject {
  const writable = Object.entries(menu.props).filter(([, prop]) => !prop.readOnly);
  const constants = Object.entries(menu.constants ?? {}).map(([key, { value }]): [string, JsonObject] => [
    key,
    { const: value, description: 'Has one value; giving it changes nothing.' },
  ]);
  return Object.fromEntries([
    ...writable.map(([key, prop]): [string, JsonObject] => [key, valueSchema(prop)]),
    ...constants,
  ]);
}

function valueSchema(prop: Prop): JsonObject {
  // The schema of a kind is plain JSON by its type's intent; copying it through JSON makes that certain.
  const kind: JsonObject = JSON.parse(JSON.stringify(prop.kind.jsonSchema));
  const absent = prop.unset ? [{ const: '', description: 'Takes the property away.' }] : [];
  const negated = prop.not ? [{ type: 'string', pattern: '^!', description: 'Inverts the match.' }] : [];
  const words = prop.kind.also?.length ? [{ type: 'string', enum: prop.kind.also }] : [];
  const extra = [...words, ...negated, ...absent];
  return {
    description: `${prop.help} Accepts ${prop.kind.accepts}.`,
    ...(extra.length === 0 ? kind : { anyOf: [kind, ...extra] }),
    ...(prop.default === undefined ? {} : { default: prop.default }),
    ...(prop.secret ? { writeOnly: true } : {}),
  };
}

/** Paths of a menu. */
function pathsOf(menu: Menu): [string, JsonObject][] {
  const base = `/rest${menu.path}`;
  const own = [...menu.commands.values()].map((command): [string, JsonObject] => [
    `${base}/${command.name}`,
    { post: menu.run === undefined ? commandOperation(menu, command) : runOperation(menu, command.name) },
  ]);
  if (menu.run !== undefined) return [[base, { post: runOperation(menu, '') }], ...own];
  const print: [string, JsonObject] = [`${base}/print`, { post: printOperation(menu) }];
  if (isSingle(menu)) return [[base, single(menu)], print, ...own];
  return [[base, collection(menu)], [`${base}/{id}`, item(menu)], print, ...own];
}

const operation = (menu: Menu, id: string, summary: string, more: JsonObject): JsonObject => ({
  tags: [menu.path],
  operationId: `${id}-${schemaName(menu)}`,
  summary,
  ...more,
});

const proplist: JsonObject = {
  name: '.proplist',
  in: 'query',
  schema: { type: 'string' },
  description: 'Comma list of the properties to send.',
};

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
            responses: { '200': response('What it is now.', reference(name)), ...failed('BadRequest') },
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
          // Pages that try requests out would make one up, which no item passes.
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

const NO_CHANGE = 'A switch that changes nothing.';

const printOperation = (menu: Menu): JsonObject =>
  operation(menu, 'print', `Print ${menu.title}`, {
    requestBody: content({
      type: 'object',
      properties: {
        '.proplist': {
          type: ['string', 'array'],
          items: { type: 'string' },
          description: 'Properties to send, as a list or comma list.',
        },
        '.query': { ...listOf({ type: 'string' }), description: 'Words of a query stack.' },
        'count-only': { description: 'Answer with the number of items.' },
        ...Object.fromEntries(VALUED_SWITCHES.map((name) => [name, { description: NO_CHANGE }])),
        ...Object.fromEntries(
          printSwitches(menu).map((name) => [name, { enum: [...SWITCH_VALUES], description: NO_CHANGE }]),
        ),
      },
      additionalProperties: false,
    }),
    responses: {
      '200': response(menu.help, { oneOf: [listOf(reference(schemaName(menu))), { type: 'object' }] }),
      ...failed('BadRequest'),
    },
  });

/** A menu that runs, or another command of it. */
const runOperation = (menu: Menu, command: string): JsonObject =>
  operation(menu, command || 'run', command === '' ? menu.title : `${menu.title}: ${command}`, {
    requestBody: content(reference(`${schemaName(menu)}-set`)),
    responses: { '200': response(menu.help, listOf(reference(schemaName(menu)))), ...failed('BadRequest') },
  });

const numbers = (description: string): JsonObject => ({
  type: ['string', 'array'],
  minLength: 1,
  items: { type: 'string', minLength: 1 },
  description,
});

const itemArguments: JsonObject = {
  numbers: numbers('Ids or names, comma separated or a list; all of them or none.'),
  '.id': {
    type: ['string', 'array'],
    minLength: 1,
    items: { type: 'string', minLength: 1 },
    description: 'The same, in place of numbers.',
  },
};

/** The same where some of the items may be gone by the time that they are to be removed. */
const passingArguments: JsonObject = {
  ...itemArguments,
  numbers: numbers(
    'Ids or names, comma separated or a list. Of items that come and go by themselves those that are there are removed ' +
      'and those that are gone left out, and it is an error when none is there; of stored items all of them or none.',
  ),
};

function commandOperation(menu: Menu, command: Command): JsonObject {
  const name = schemaName(menu);
  const { result } = command;
  const row: JsonObject = {
    type: 'object',
    properties: Object.fromEntries((Array.isArray(result) ? result : []).map((key) => [key, { type: 'string' }])),
  };
  const more = {
    description: command.help,
    responses: {
      '200': Array.isArray(result)
        ? response(command.help, listOf(row))
        : response(result === 'id' ? 'The id of the new item.' : 'An empty list.', {}),
      ...failed('BadRequest'),
    },
  };
  const title = `${command.name} on ${menu.title}`;
  if (command.name === 'add') {
    return operation(menu, 'post-add', title, { requestBody: content(reference(`${name}-add`)), ...more });
  }
  const given = command.name === 'set';
  const ofItems = command.target === 'selection';
  // Who lists live state alone names what comes and goes, too.
  const passing = command.name === 'remove' && (command.dynamicRows === true || menu.source === 'live');
  const required = Object.keys(command.args).filter((key) => command.args[key]?.required);
  const schema: JsonObject = {
    type: 'object',
    ...(ofItems && !command.allByDefault && { anyOf: [{ required: ['numbers'] }, { required: ['.id'] }] }),
    ...(required.length > 0 && { required }),
    ...(given && { additionalProperties: false, patternProperties: TAKEN_AWAY }),
    properties: {
      ...(ofItems && (passing ? passingArguments : itemArguments)),
      ...Object.fromEntries(Object.entries(command.args).map(([key, argument]) => [key, argumentSchema(argument)])),
      ...(given && givenProperties(menu)),
    },
  };
  return operation(menu, `post-${command.name}`, title, {
    requestBody: { required: 'anyOf' in schema || required.length > 0, ...content(schema) },
    ...more,
  });
}

/** The schema of a kind is plain JSON by its type's intent; copying it through JSON makes that certain. */
const argumentSchema = ({ kind, help }: Argument): JsonObject => ({
  ...JSON.parse(JSON.stringify(kind.jsonSchema)),
  description: help,
});
