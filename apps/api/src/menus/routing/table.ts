import { compileTables } from '../../compiler/routing-tables.js';
import type { MenuModule } from '../module.js';

export const routingTable: MenuModule = {
  path: '/routing/table',
  compile: (context) => ({ 'routing-tables': context.once(compileTables) }),
};
