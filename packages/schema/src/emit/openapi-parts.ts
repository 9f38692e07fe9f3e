import type { Menu } from '../menu.js';

/** Parts of OpenAPI documents that schemas, resources and commands have in common. */

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Name of a menu's schemas: `ip-firewall-filter`. */
export const schemaName = (menu: Menu): string => menu.path.slice(1).replaceAll('/', '-');

export const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const content = (schema: JsonObject): JsonObject => ({ content: { 'application/json': { schema } } });
export const response = (description: string, schema?: JsonObject): JsonObject => ({
  description,
  ...(schema ? content(schema) : {}),
});
export const listOf = (schema: JsonObject): JsonObject => ({ type: 'array', items: schema });

/** Whether a menu is one object instead of a list. */
export const isSingle = ({ kind }: Menu): boolean => kind === 'settings' || kind === 'status';

/**
 * Whether a list of items can be added or changed by one request. This excludes users, which are not part of the
 * configuration.
 */
export const takesLists = (menu: Menu): boolean => menu.source !== 'live' && !isSingle(menu) && menu.undoable !== false;

/** Error responses of an operation. */
export const failed = (...names: string[]): JsonObject =>
  Object.fromEntries(
    [
      ['401', 'Unauthorized'] as const,
      ...names.map((name) => [name === 'NotFound' ? '404' : '400', name] as const),
      ['default', 'Refused'] as const,
    ].map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );

export const operation = (menu: Menu, id: string, summary: string, more: JsonObject): JsonObject => ({
  tags: [menu.path],
  operationId: `${id}-${schemaName(menu)}`,
  summary,
  ...more,
});

export const proplist: JsonObject = {
  name: '.proplist',
  in: 'query',
  schema: { type: 'string' },
  description: 'Comma list of the properties to send.',
};
