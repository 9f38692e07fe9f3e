import { MAX_INTERFACES, MAX_ROUTING_TABLES } from '@tollway/dataplane-agent/records';
import { interfaceMenus } from '../snapshot/interfaces.js';
import { rowsOf } from '../snapshot/snapshot.js';
import { VRFS } from '../snapshot/vrfs.js';
import { type FieldError, fieldError, type ProposedRow } from './proposed-row.js';

/** Rows of several menus that the data plane counts together, and how many of them it holds. */
const LIMITS: readonly { readonly menus: readonly string[]; readonly most: number; readonly what: string }[] = [
  { menus: interfaceMenus, most: MAX_INTERFACES, what: 'interfaces of all types' },
  { menus: ['/routing/table', VRFS], most: MAX_ROUTING_TABLES, what: 'routing tables, with those of VRFs,' },
];

/** Refuses a new row beyond what the data plane holds. */
export function checkLimit({ menu, before, snapshot }: ProposedRow): FieldError | undefined {
  const limit = LIMITS.find(({ menus }) => menus.includes(menu.path));
  if (limit === undefined || before !== undefined) return undefined;
  const count = limit.menus.reduce((sum, path) => sum + rowsOf(snapshot, path).length, 0);
  return count < limit.most
    ? undefined
    : fieldError('name', `failure: at most ${limit.most} ${limit.what} are possible, and there are ${count}`);
}
