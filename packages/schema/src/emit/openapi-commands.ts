import { type Command, returnsRows } from '../command.js';
import { type Menu, propOf } from '../menu.js';
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
import { argumentSchemas, UNSET_PATTERN, writableProperties } from './openapi-schemas.js';

const PROPLIST: JsonObject = {
  '.proplist': {
    type: ['string', 'array'],
    items: { type: 'string' },
    description: 'Properties to send, as a list or comma list.',
  },
};

const NO_CHANGE = 'A switch that changes nothing.';

export const printOperation = (menu: Menu): JsonObject =>
  operation(menu, 'print', `Print ${menu.title}`, {
    requestBody: content({
      type: 'object',
      properties: {
        ...PROPLIST,
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

/** Arguments of `remove` where items may disappear by themselves before the request is processed. */
const transientItemArguments: JsonObject = {
  ...itemArguments,
  numbers: numbers(
    'Ids or names, comma separated or a list. Dynamic items: those that exist are removed and those that are gone left out, ' +
      'with an error when none exists. Stored items: all of them or none.',
  ),
};

/** A command of a menu, or the command that a menu of kind `command` is. */
export function commandOperation(menu: Menu, command: Command): JsonObject {
  const isMenu = command === menu.run;
  const id = isMenu ? 'run' : `post-${command.name}`;
  const title = isMenu ? menu.title : `${command.name} on ${menu.title}`;
  const more = {
    description: command.help,
    responses: { '200': answerOf(menu, command), ...failed('BadRequest') },
  };
  if (command.name === 'add') {
    return operation(menu, id, title, { requestBody: content(reference(`${schemaName(menu)}-add`)), ...more });
  }
  const schema = bodyOf(menu, command);
  return operation(menu, id, title, {
    requestBody: { required: 'anyOf' in schema || 'required' in schema, ...content(schema) },
    ...more,
  });
}

/** Response of a command that succeeds. */
function answerOf(menu: Menu, { help, result }: Command): JsonObject {
  if (result === 'id') return response('The id of the new item.', {});
  if (result === 'nothing') return response('An empty list.', {});
  const property = (key: string): JsonObject => {
    const prop = propOf(menu, key);
    return { type: 'string', ...(prop !== undefined && { description: prop.help }) };
  };
  return response(
    help,
    listOf({ type: 'object', properties: Object.fromEntries(result.map((key) => [key, property(key)])) }),
  );
}

/** Schema of the arguments of a command. */
function bodyOf(menu: Menu, command: Command): JsonObject {
  const takesProperties = command.name === 'set';
  const ofItems = command.target === 'selection';
  // Items of the data plane, such as connections, may disappear by themselves.
  const isTransient = command.name === 'remove' && (command.dynamicRows === true || menu.source === 'live');
  const required = Object.keys(command.args).filter((key) => command.args[key]?.required);
  return {
    type: 'object',
    ...(ofItems && !command.allByDefault && { anyOf: [{ required: ['numbers'] }, { required: ['.id'] }] }),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(takesProperties && { patternProperties: UNSET_PATTERN }),
    properties: {
      ...(ofItems && (isTransient ? transientItemArguments : itemArguments)),
      ...argumentSchemas(command),
      ...(takesProperties && writableProperties(menu)),
      ...(returnsRows(command) && PROPLIST),
    },
  };
}
