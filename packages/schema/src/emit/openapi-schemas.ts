import type { Argument, Command } from '../command.js';
import type { Menu, Prop } from '../menu.js';
import { isSingle, type JsonObject, schemaName } from './openapi-parts.js';

const ABOUT: JsonObject = { type: 'string', description: 'Why the item cannot work; only of one that cannot.' };

/** Arguments of `add` for the position in an ordered menu. */
const POSITION: JsonObject = {
  'place-before': { type: 'string', description: 'Id of the item to insert before; without it, the end.' },
  'place-after': { type: 'string', description: 'Id of the item to insert after, in place of place-before.' },
};

/**
 * Schemas of a menu: of an item as it is read, as an argument of `set`, and of `add`. A menu that is a command has no
 * items.
 */
export function schemasOf(menu: Menu): [string, JsonObject][] {
  if (menu.run !== undefined) return [];
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
  const properties = writableProperties(menu);
  const added: JsonObject = {
    required,
    properties: { ...properties, ...(menu.kind === 'ordered' ? POSITION : {}) },
  };
  const write: JsonObject = {
    type: 'object',
    additionalProperties: false,
    properties,
    patternProperties: UNSET_PATTERN,
  };
  return [
    [name, read],
    [`${name}-set`, write],
    ...(menu.commands.has('add') ? [[`${name}-add`, { ...write, ...added }] as [string, JsonObject]] : []),
  ];
}

export const UNSET_PATTERN: JsonObject = { '^!': { description: 'Removes the property.' } };

/** Schemas of the properties that requests may set. */
export function writableProperties(menu: Menu): JsonObject {
  const writable = Object.entries(menu.props).filter(([, prop]) => !prop.readOnly);
  const constants = Object.entries(menu.constants ?? {}).map(([key, { value }]): [string, JsonObject] => [
    key,
    { const: value, description: 'Only this value is accepted; it changes nothing.' },
  ]);
  return Object.fromEntries([
    ...writable.map(([key, prop]): [string, JsonObject] => [key, valueSchema(prop, 'Removes the property.')]),
    ...constants,
  ]);
}

function valueSchema(prop: Argument & Pick<Prop, 'not'>, unset: string): JsonObject {
  // The schema of a kind contains plain JSON only; copying it through JSON ensures this.
  const kind: JsonObject = JSON.parse(JSON.stringify(prop.kind.jsonSchema));
  const absent = prop.unset ? [{ const: '', description: unset }] : [];
  const negated = prop.not ? [{ type: 'string', pattern: '^!', description: 'Inverts the match.' }] : [];
  const words = prop.kind.keywords?.length ? [{ type: 'string', enum: prop.kind.keywords }] : [];
  const extra = [...words, ...negated, ...absent];
  return {
    description: `${prop.help} Accepts ${prop.kind.accepts}.`,
    ...(extra.length === 0 ? kind : { anyOf: [kind, ...extra] }),
    ...(prop.default === undefined ? {} : { default: prop.default }),
    ...(prop.secret ? { writeOnly: true } : {}),
  };
}

/** Schemas of the arguments of a command, under each name that they may have. */
export const argumentSchemas = ({ args }: Command): JsonObject =>
  Object.fromEntries(
    Object.entries(args).flatMap(([name, argument]): [string, JsonObject][] => {
      const schema = valueSchema(argument, 'The same as no value.');
      const same = { ...schema, description: `The same, in place of ${name}.` };
      return [[name, schema], ...(argument.aliases ?? []).map((alias): [string, JsonObject] => [alias, same])];
    }),
  );
