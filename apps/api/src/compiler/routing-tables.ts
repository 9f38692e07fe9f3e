import type { RoutingTable } from '@tollway/dataplane-agent';
import { MAX_ROUTING_TABLES } from '@tollway/dataplane-agent/records';
import { NO_MARK } from '@tollway/schema';
import { VRFS } from '../snapshot/vrfs.js';
import { type CompileContext, effective, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { MAIN_TABLE } from './table-names.js';
import { compileVrfs } from './vrfs.js';

const MENU = '/routing/table';

/** The tables beside the main table, those of VRFs behind the others; the number of each is its place and one. */
export const compileTables = (context: CompileContext): RoutingTable[] => [
  ...compileOwnTables(context),
  ...compileVrfs(context),
];

function compileOwnTables(context: CompileContext): RoutingTable[] {
  let count = context.enabled(VRFS).length;
  return context.translate(MENU, (row) => {
    const name = requiredValue(MENU, row, 'name');
    const mark = context.marks.of(name);
    count += 1;
    if (count > MAX_ROUTING_TABLES) throw new InvalidRow(`at most ${MAX_ROUTING_TABLES} routing tables are possible`);
    return { row: row.id, name, mark, fib: effective(MENU, row, 'fib') === 'true' };
  });
}

const numbersOf = (context: CompileContext): ReadonlyMap<string, number> =>
  new Map(context.once(compileTables).map(({ name }, at) => [name, at + 1]));

/** Number of the table that a property names. @throws InvalidRow when there is none that can be used */
export function tableNumber(context: CompileContext, property: string, name: string): number {
  if (name === MAIN_TABLE) return 0;
  const number = context.once(numbersOf).get(name);
  if (number === undefined) throw new InvalidRow(`${property}: there is no enabled routing table ${name}`);
  return number;
}

/** The routing mark of a table's name; that of the main table is none. @throws InvalidRow as {@link tableNumber} */
export function routingMark({ tables, marks }: CompileContext, property: string, name: string): number {
  if (name === MAIN_TABLE || name === NO_MARK) return 0;
  tables.check(property, name);
  return marks.of(name);
}
