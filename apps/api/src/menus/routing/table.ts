import { FIRST_BUILTIN_ROW } from '@tollway/schema';
import { compileTables } from '../../compiler/routing-tables.js';
import type { ReadLive } from '../../view/live-rows.js';
import type { MenuModule } from '../module.js';

/** The main table is the system's, though it is listed as a builtin item, which others may name. */
const readTables: ReadLive = async () => () => ({
  values: { properties: ['dynamic'], value: (id) => String(id >= FIRST_BUILTIN_ROW) },
});

export const routingTable: MenuModule = {
  path: '/routing/table',
  compile: (context) => ({ 'routing-tables': context.once(compileTables) }),
  liveRows: () => readTables,
};
