// @ts-check
/**
 * The layers, from the top down, which determine permitted imports. An entry is a folder, or a file without its
 * extension. It may import entries of lower lines, and none of its own line or of higher ones. Inside an entry all
 * imports are permitted except circular ones. A new entry belongs directly above everything that it imports.
 */

/** Entries of each line, by the folder that they are in. @typedef {Readonly<Record<string, readonly (readonly string[])[]>>} Layers */

/** @type {Layers} */
export const LAYERS = {
  '.': [
    ['e2e'],
    ['tests'],
    ['apps/api', 'apps/web', 'scripts'],
    ['packages/dataplane-agent', 'packages/protocol', 'packages/schema'],
  ],

  'apps/api/src': [
    // Processes, and their components.
    ['server', 'restore'],
    ['unavailable'],
    ['app'],
    ['routes'],
    // Modules of the menus: checks, live values, commands.
    ['menus'],
    // Interfaces to browsers and programs.
    ['plugins', 'rest', 'live'],
    ['trace'],
    ['services'],
    // Rows of menus, and imports.
    ['view', 'import'],
    // Queries, conditions and the order of values.
    ['query'],
    ['accounting', 'auth', 'lint'],
    ['state', 'logging'],
    ['startup'],
    ['generations'],
    // The configuration and its way to the data plane.
    ['config'],
    ['compiler', 'database'],
    ['agent', 'snapshot'],
    ['scheduling', 'env', 'errors', 'version', 'generated'],
  ],

  'apps/web/src': [['main'], ['shell'], ['windows'], ['menu'], ['api', 'wm'], ['ui']],

  'packages/protocol/src': [
    ['endpoints', 'openapi'],
    ['session', 'revisions', 'queue-import', 'queue-accounting', 'values'],
    ['endpoint', 'live', 'errors', 'check'],
    ['data', 'queue-menus'],
  ],

  'packages/schema/src': [
    ['index'],
    ['registry', 'emit'],
    ['menus'],
    ['mixins', 'packet-line'],
    ['define', 'print-switches'],
    ['commands'],
    ['props'],
    ['column', 'windows', 'outline', 'values'],
    ['menu'],
    ['command'],
    ['kind'],
  ],
};
