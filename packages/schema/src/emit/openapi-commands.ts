import type { Command } from '../command.js';
import type { Menu } from '../menu.js';
import { printSwitches, SWITCH_VALUES, VALUED_SWITCHES } from '../print-switches.js';
import {
  content,
  failed,
  type JsonObject,
  listOf,
  operation,
  reference,
  response,
  schemaName,
} from './openapi-parts.js';
import { argumentSchema, UNSET_PATTERN, writableProperties } from './openapi-schemas.js';

const NO_CHANGE = 'A switch that changes nothing.';

export const printOperation = (menu: Menu): JsonObject =>
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

/** The command that a menu of kind `command` is, or another command of such a menu. */
export const runOperation = (menu: Menu, command: string): JsonObject =>
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

/** Arguments of `remove` where items may disappear by themselves before the request is carried out. */
const transientItemArguments: JsonObject = {
  ...itemArguments,
  numbers: numbers(
    'Ids or names, comma separated or a list. Of items that come and go by themselves those that are there are removed ' +
      'and those that are gone left out, and it is an error when none is there; of stored items all of them or none.',
  ),
};

/** A command of a menu. */
export function commandOperation(menu: Menu, command: Command): JsonObject {
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
  const takesProperties = command.name === 'set';
  const ofItems = command.target === 'selection';
  // Items of the data plane, such as connections, may disappear by themselves.
  const isTransient = command.name === 'remove' && (command.dynamicRows === true || menu.source === 'live');
  const required = Object.keys(command.args).filter((key) => command.args[key]?.required);
  const schema: JsonObject = {
    type: 'object',
    ...(ofItems && !command.allByDefault && { anyOf: [{ required: ['numbers'] }, { required: ['.id'] }] }),
    ...(required.length > 0 && { required }),
    ...(takesProperties && { additionalProperties: false, patternProperties: UNSET_PATTERN }),
    properties: {
      ...(ofItems && (isTransient ? transientItemArguments : itemArguments)),
      ...Object.fromEntries(Object.entries(command.args).map(([key, argument]) => [key, argumentSchema(argument)])),
      ...(takesProperties && writableProperties(menu)),
    },
  };
  return operation(menu, `post-${command.name}`, title, {
    requestBody: { required: 'anyOf' in schema || required.length > 0, ...content(schema) },
    ...more,
  });
}
